"""Coverage: what a run looked at, and what it left out. A baseline asks, before it calls anything fixed."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gradlint.config import Settings, SettingsByFile
from gradlint.files.discovery import discover
from gradlint.files.modules import ModuleFinder
from gradlint.flow.sources import Sources
from gradlint.own_rules import rule_files, rules_under


class Coverage:
    """Of a run over these files, under these settings."""

    def __init__(self, settings: SettingsByFile, files: Iterable[str]) -> None:
        self._settings = settings
        self._judged = frozenset(map(os.path.abspath, files))
        self._importers: dict[Settings, dict[str, list[str]]] = {}

    def rules(self, filename: str) -> frozenset[str]:
        """The codes of the rules that are on in a file."""
        return self._settings.for_file(filename).selected_in(filename)

    def knows(self, code: str, filename: str) -> bool:
        """Whether there is such a rule under the settings of a file."""
        return any(rule.code == code for rule in rules_under(rule_files(self._settings.for_file(filename))))

    def includes_docs(self, filename: str) -> bool:
        """Whether the docstrings of a file are judged."""
        return self._settings.for_file(filename).include_docs

    def is_used_outside(self, filename: str) -> bool:
        """Whether a file that was left out imports this one, directly or by way of others.

        Those count that a run over the whole project would judge.
        """
        settings = self._settings.for_file(filename)
        if settings not in self._importers:
            self._importers[settings] = self._importers_under(settings)
        importers = self._importers[settings]
        pending = [os.path.abspath(filename)]
        seen = set(pending)
        while pending:
            found = set(importers.get(pending.pop(), ())) - seen
            if not found <= self._judged:
                return True
            seen |= found
            pending += found
        return False

    def _importers_under(self, settings: Settings) -> dict[str, list[str]]:
        """By module, the files of a project that import it; nothing where no file of it was left out."""
        files = [os.path.abspath(file) for file in discover([str(settings.root)], self._settings).files]
        importers: dict[str, list[str]] = {}
        if self._judged.issuperset(files):
            return importers
        sources = Sources(ModuleFinder(str(settings.root), settings.src))
        for file in files:
            for module in sources.imports_of(file):
                importers.setdefault(module, []).append(file)
        return importers
