"""Trust: whose rule files are run. Settings come from anywhere in what is judged, and rule files are code.

Those of the working folder, of folders above it, and of what `--config` names are the user's own, with all that they
extend. Of others, which a vendored folder may bring along, the rule files are left alone unless `--allow-rules` names
them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from gradlint.errors import RunError
from gradlint.files.tree import is_within
from gradlint.settings.layers import Layer, shown
from gradlint.text import printable

Tell = Callable[[str], None]


def _warn(line: str) -> None:
    warnings.warn(line, stacklevel=2)


@dataclass(frozen=True)
class Trust:
    """Decides for each layer of the settings which of its rule files are run, and tells which are not."""

    allowed: tuple[str, ...] = ()
    """What may be run beside, without links: rule files, settings files and folders of either."""
    tell: Tell = _warn
    _told: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, paths: Iterable[str], tell: Tell | None = None) -> Trust:
        """With what `--allow-rules` names.

        Raises:
            RunError: it is not there.
        """
        allowed = []
        for path in paths:
            if not os.path.exists(path):
                raise RunError(f"--allow-rules: {printable(path)}: no such file or folder")
            allowed.append(os.path.realpath(path))
        return cls(tuple(allowed), tell or _warn)

    def applied(self, layers: Sequence[Layer], *, is_named: bool) -> list[Layer]:
        """The layers of a settings file, the file itself last, without the rule files that are not to be run.

        `is_named` says that the user named the file itself.
        """
        kept: list[Layer] = []
        is_own = is_named
        for layer in reversed(layers):
            is_own = is_own or _is_of_working_folder(layer.file)
            kept.append(self._without_foreign(layer, is_own=is_own))
        return kept[::-1]

    def _without_foreign(self, layer: Layer, *, is_own: bool) -> Layer:
        rules: tuple[str, ...] = layer.values.get("rules", ())
        if not rules or (is_own and not _is_behind_link(layer.file)):
            return layer
        run = tuple(each for each in rules if self._is_run(each, layer.file, is_own=is_own))
        if run == rules:
            return layer
        self._tell_of(layer)
        return replace(layer, values={**layer.values, "rules": run}, has_foreign_rules=True)

    def _is_run(self, rule_file: str, settings_file: str, *, is_own: bool) -> bool:
        if any(is_within(os.path.realpath(rule_file), each) for each in self.allowed):
            return True
        folder = os.path.realpath(os.path.dirname(settings_file))
        named = os.path.join(folder, os.path.basename(settings_file))
        if not is_own and not any(is_within(named, each) for each in self.allowed):
            return False
        # Through a link to its folder, `../rules.py` of a trusted file may be another file than it means.
        meant = os.path.join(folder, os.path.relpath(rule_file, os.path.dirname(settings_file)))
        return os.path.realpath(meant) == os.path.realpath(rule_file)

    def _tell_of(self, layer: Layer) -> None:
        line = (
            f"{layer.source.place('rules')}: rules: not run: these are not the settings of the working folder; "
            f"--allow-rules {shown(layer.file)} runs them"
        )
        if line not in self._told:
            self._told.add(line)
            self.tell(line)


def _is_of_working_folder(settings_file: str) -> bool:
    """Whether a settings file stands in the working folder or above it. Of a link the folder counts that it is in."""
    folder = os.path.realpath(os.path.dirname(settings_file))
    return is_within(os.path.realpath(os.getcwd()), folder)


def _is_behind_link(settings_file: str) -> bool:
    folder = os.path.dirname(settings_file)
    return os.path.realpath(folder) != os.path.abspath(folder)
