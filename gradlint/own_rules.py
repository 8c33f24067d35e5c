"""Rules of one's own: those of installed packages, and rule files that the settings name by their path.

Installed packages announce a module, or a package of them, by an entry point of the group `gradlint.rules`; their rules
are known everywhere. A rule file holds for the settings that name it. Both are loaded once per process, a file again
when it has changed, and are held to the contract of `rule.py`; what breaks it is one `RunError` that names the place.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

from gradlint.errors import RunError
from gradlint.process_wide import while_others_run
from gradlint.rule import (
    Rule,
    Severity,
    check_distinct,
    forget_module,
    import_all,
    kept_while_rules_stay,
    rules_of_gradlint,
    tell_that_rules_changed,
    written_in,
)
from gradlint.text import printable

if TYPE_CHECKING:
    from gradlint.config import Settings

GROUP = "gradlint.rules"
#: Letters of the codes that are gradlint's own.
RESERVED = "GL"

_CODE = re.compile(r"([A-Z]{2,})[0-9]{3,}")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def complaint_about_code(code: object) -> str:
    """What is wrong with the code of a rule of one's own; empty for nothing."""
    match = _CODE.fullmatch(code) if isinstance(code, str) else None
    if match is None:
        return f"the code {code!r} is not of the form ABC001 (two or more capitals, three or more digits)"
    return f"{code}: codes {RESERVED}... are gradlint's own" if match[1] == RESERVED else ""


def complaint_about_name(name: object) -> str:
    """What is wrong with the name of a rule; empty for nothing."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return ""
    return f"the name {name!r} is not of the form no-gradient-here (small letters, digits, hyphens)"


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A rule file as it was when it was read."""

    stamp: tuple[int, int]
    rules: tuple[Rule, ...]


_loaded: dict[str, _Loaded] = {}
_loading = threading.RLock()


def rule_files(settings: Settings) -> tuple[str, ...]:
    """The rule files that these settings name, as absolute paths."""
    return tuple(os.path.abspath(os.path.join(settings.root, each)) for each in settings.rules)


def load_rule_files(paths: Iterable[str]) -> None:
    """Make the rules in these files known. They hold where settings name the files.

    Raises:
        RunError: a file cannot be read, is no valid Python, raises an exception, or holds a rule that breaks the
            contract: its code or name is taken or malformed, it has no page, or takes no event.
    """
    files = list(dict.fromkeys(map(os.path.abspath, paths)))
    with _loading:
        for file in files:
            stamp = _stamp(file)
            known = _loaded.get(file)
            if known is None or known.stamp != stamp:
                _put(file, None)
                _put(file, _Loaded(stamp, _rules_in(file)))
        _check_against_others([rule for file in files for rule in _loaded[file].rules])


def _put(file: str, loaded: _Loaded | None) -> None:
    if loaded is not None:
        _loaded[file] = loaded
    else:
        _loaded.pop(file, None)
    tell_that_rules_changed()


def rules_in_file(path: str) -> tuple[Rule, ...]:
    """The rules of a rule file that was loaded, in the order written."""
    return _loaded[os.path.abspath(path)].rules


@kept_while_rules_stay
def rules_under(files: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules that hold where settings name these files: gradlint's, those of installed packages, and the files'."""
    own = (rule for file in files if file in _loaded for rule in _loaded[file].rules)
    return _sorted([*rules_of_gradlint(), *installed_rules(), *own])


@kept_while_rules_stay
def rules_known() -> tuple[Rule, ...]:
    """Every rule that is known, whatever settings it holds for."""
    return rules_under(tuple(_loaded))


@cache
def installed_rules() -> tuple[Rule, ...]:
    """The rules of installed packages.

    Raises:
        RunError: as `load_rule_files` does; the message names the package.
    """
    found: list[Rule] = []
    for point in sorted(entry_points(group=GROUP), key=lambda each: (each.value, each.name)):
        of = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
        rules = _rules_of(point, of)
        for rule in rules:
            _check(rule, f"{of}: {_place_of(rule)}")
            _check_distinct([*rules_of_gradlint(), *found], rule, f"{of}: {_place_of(rule)}")
            found.append(rule)
    return _sorted(found)


def file_of(rule: Rule) -> str:
    """The file that a rule stands in."""
    return rule.file or (rule.decide.__code__.co_filename if rule.decide is not None else "")


def _rules_of(point: EntryPoint, of: str) -> tuple[Rule, ...]:
    _run(lambda: import_all(point.module), of)
    rules = written_in(point.module)
    if not rules:
        raise RunError(f"{of}: no rule in `{point.module}`, which its entry point names")
    return rules


def _stamp(file: str) -> tuple[int, int]:
    try:
        found = os.stat(file)
    except (OSError, ValueError) as error:
        raise RunError(f"{_shown(file)}: {_reason(error)}") from error
    if os.path.isdir(file):
        raise RunError(f"{_shown(file)}: is a folder; name the files in it")
    return found.st_mtime_ns, found.st_size


def _rules_in(file: str) -> tuple[Rule, ...]:
    try:
        with open(file, "rb") as opened:
            data = opened.read()
    except OSError as error:
        raise RunError(f"{_shown(file)}: {_reason(error)}") from error
    # A name that nothing else has: rule files are not importable, and two may be called alike.
    name = f"_gradlint_rule_file_{hashlib.sha256(os.fsencode(file)).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = file
    forget_module(name)
    sys.modules[name] = module
    try:
        _run(lambda: exec(_compiled(data, file), module.__dict__), file=file)
        written = written_in(name)
        if not written:
            raise RunError(f"{_shown(file)}: no rule in it: decorate a function with `gradlint.rule.rule`")
        for rule in written:
            _check(rule, _place_of(rule))
    except BaseException:
        forget_module(name)
        del sys.modules[name]
        raise
    return tuple(replace(rule, file=file) for rule in written)


def _compiled(data: bytes, file: str) -> CodeType:
    code: CodeType = compile(data, file, "exec", dont_inherit=True)
    return code


def _run(load: Callable[[], None], of: str = "", file: str = "") -> None:
    """Run what may be anybody's code; whatever it raises becomes one line."""
    begin = f"{of}: " if of else ""
    try:
        with while_others_run:
            load()
    except SyntaxError as error:
        at = error.filename or file
        raise RunError(f"{begin}{_shown(at)}:{error.lineno or 1}: {printable(error.msg)}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, too: a rule does not end the run
        raise RunError(f"{begin}{_raised_at(error, file)}{_words(error)}") from error


def _raised_at(error: BaseException, file: str) -> str:
    """Where an exception left code that is not Python's or gradlint's own: the place to look at first."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [each for each in frames if each.filename == file] if file else _foreign(frames)
    if inside:
        return f"{_shown(inside[-1].filename)}:{inside[-1].lineno}: "
    return f"{_shown(file)}: " if file else ""


def _foreign(frames: Sequence[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    home = os.path.dirname(__file__)
    return [each for each in frames if not each.filename.startswith((home, "<")) and "importlib" not in each.filename]


def _words(error: BaseException) -> str:
    text = printable(str(error))
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}".rstrip(": ")


def _check(rule: Rule, place: str) -> None:
    """Hold a rule of one's own to the contract."""
    complaint = complaint_about_code(rule.code) or complaint_about_name(rule.name)
    if not complaint and not isinstance(rule.severity, Severity):
        complaint = f"{rule.code}: the severity {rule.severity!r} is not one of gradlint.rule.Severity"
    if not complaint and not rule.page.strip():
        complaint = f"{rule.code}: the file has no docstring, which is the page of the rule"
    if not complaint:
        complaint = _complaint_about_event(rule)
    if complaint:
        raise RunError(f"{place}: {printable(complaint)}")


def _complaint_about_event(rule: Rule) -> str:
    from gradlint.events import EVENTS

    if rule.event in EVENTS.values():
        return ""
    name = getattr(rule.event, "__name__", str(rule.event))
    return f"{rule.code}: {no_such_event(name)}"


def no_such_event(name: str) -> str:
    """One line about a word that names no event, with the nearest one that does."""
    from gradlint.events import EVENTS

    near = get_close_matches(name, EVENTS, 1)
    return f'no event "{name}"' + (f'; did you mean "{near[0]}"?' if near else "")


def _check_against_others(rules: Sequence[Rule]) -> None:
    others = [*rules_of_gradlint(), *installed_rules()]
    for rule in rules:
        _check_distinct(others, rule, _place_of(rule))
        others.append(rule)


def _check_distinct(others: Sequence[Rule], rule: Rule, place: str) -> None:
    try:
        check_distinct([*others, rule])
    except ValueError as error:
        other = next(each for each in others if rule.code == each.code or rule.name == each.name)
        at = f" in {_place_of(other)}" if other.is_own else ""
        raise RunError(f"{place}: {error}{at}") from error


def _place_of(rule: Rule) -> str:
    assert rule.decide is not None
    return f"{_shown(rule.decide.__code__.co_filename)}:{rule.decide.__code__.co_firstlineno}"


def _shown(file: str) -> str:
    """The file as seen from the working folder, when it lies in it."""
    relative = os.path.relpath(file)
    return printable(file if relative.startswith("..") else relative)


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return (getattr(error, "strerror", None) or str(error)).lower()


def _sorted(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(sorted(rules, key=lambda rule: rule.code))
