"""The rules about the run itself (GL0xx): files that cannot be judged, and comments that suppress.

They have no event. `files/`, `suppress.py` and `engine.py` make their findings through the functions below, so that
each message is worded in one place.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from enum import Enum
from typing import TypeVar

from gradlint.rule import Finding, Place, Rule, Severity, Step, register_run_rule
from gradlint.text import with_short_code
from gradlint.verdicts import Cause, Verdict

E = TypeVar("E", bound=Enum)

SYNTAX_ERROR = register_run_rule(
    "GL001",
    "syntax-error",
    Severity.ERROR,
    since="0.1.0",
    page="""
    A file is not valid Python and was not judged.

    ## What it does
    Reports the first syntax error, with the message and the position that CPython gives, and files that are nested
    too deeply to be read.

    ## Why it matters
    Nothing else in the file was looked at: silence about it means nothing.

    ## What TensorFlow does
    Nothing: the program does not start.

    ## Example
        with tf.GradientTape() as tape
            loss = model(x)

    ## Use instead
        with tf.GradientTape() as tape:
            loss = model(x)

    ## Fix safety
    No fix. A file is read by the Python that runs gradlint. Code for a newer Python needs gradlint to be installed
    under that Python.

    ## References
    - [The Python language reference](https://docs.python.org/3/reference/)
    """,
)

UNREADABLE_FILE = register_run_rule(
    "GL002",
    "unreadable-file",
    Severity.ERROR,
    since="0.1.0",
    page="""
    A file cannot be read as text and was not judged.

    ## What it does
    Reports files without read permission, broken symbolic links, null bytes, unknown encodings, and bytes that the
    encoding of the file does not have.

    ## Why it matters
    Nothing in the file was looked at: silence about it means nothing.

    ## What TensorFlow does
    Nothing: Python cannot read the file either.

    ## Example
    A file saved as Latin-1 without a coding line.

    ## Use instead
    Save the file as UTF-8, or name its encoding in the first line: `# coding: latin-1`.

    ## Fix safety
    No fix.

    ## References
    - [PEP 263](https://peps.python.org/pep-0263/)
    """,
)

UNUSED_SUPPRESSION = register_run_rule(
    "GL003",
    "unused-suppression",
    Severity.WARNING,
    since="0.1.0",
    page="""
    A suppression comment silences nothing.

    ## What it does
    Reports each code of a `# gradlint: ignore[...]` comment that matched no finding. Rules that are switched off are
    not counted as unused, nor is `# noqa`, which other tools read too, nor anything where findings may be missing,
    because this file, or one that imports it, could not be judged.

    ## Why it matters
    The comment would silence the next fault at this place.

    ## What TensorFlow does
    Nothing.

    ## Example
        loss = compute(x)  # gradlint: ignore[GL101]

    ## Use instead
        loss = compute(x)

    ## Fix safety
    No fix yet: delete the code from the comment.

    ## References
    - README, "Suppressions"
    """,
)

INVALID_SUPPRESSION = register_run_rule(
    "GL004",
    "invalid-suppression",
    Severity.WARNING,
    since="0.1.0",
    page="""
    A suppression comment cannot be understood or names no rule.

    ## What it does
    Reports `# gradlint:` comments that are neither `ignore[...]` nor `skip-file`, those that lack the colon or the `#`,
    and names that no rule has; in `# noqa: ...` codes such as `GL999`, and what is close to the name of a rule.

    ## Why it matters
    The comment silences nothing, although somebody wanted it to.

    ## What TensorFlow does
    Nothing.

    ## Example
        loss = compute(x)  # gradlint: ignore[GL1O1]

    ## Use instead
        loss = compute(x)  # gradlint: ignore[GL101]

    ## Fix safety
    No fix.

    ## References
    - README, "Suppressions"
    """,
)

INTERNAL_ERROR = register_run_rule(
    "GL009",
    "internal-error",
    Severity.ERROR,
    since="0.1.0",
    page="""
    gradlint failed on a file: a fault of gradlint, or of a rule of your own.

    ## What it does
    Reports an exception inside gradlint, or in a rule that a package or a rule file added. The other files are judged
    all the same, and so is this one by the other rules when it was a rule that failed.

    ## Why it matters
    The file was judged in part or not at all: silence about it means nothing.

    ## What TensorFlow does
    Nothing.

    ## Example
    None is known, or it would be mended.

    ## Use instead
    Please report the message, and the file if it may be shown.

    ## Fix safety
    No fix.

    ## References
    - README, "Faults of gradlint"
    """,
)

#: A file that was not judged must never look clean, so `--select` does not switch these off; `--ignore` does.
#: Findings of these say something of a file or a comment, and nothing that a run of the program could confirm.
ABOUT_FILES = frozenset(
    each.code for each in (SYNTAX_ERROR, UNREADABLE_FILE, UNUSED_SUPPRESSION, INVALID_SUPPRESSION, INTERNAL_ERROR)
)
#: They speak about comments, whatever the code before them is, and are suppressed in a second round.
ABOUT_COMMENTS = frozenset({UNUSED_SUPPRESSION.code, INVALID_SUPPRESSION.code})
ALWAYS_SELECTED = frozenset({SYNTAX_ERROR.code, UNREADABLE_FILE.code, INTERNAL_ERROR.code})

START = Place(1, 1, 1, 1)

#: Where an object lies in memory: it differs from run to run.
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
#: Of the words of an exception, so many characters are told.
_LONGEST = 300


def stamped(rule: Rule, finding: Finding, filename: str) -> Finding:
    """The finding with its rule, its file and (unless it has its own) the severity of its rule.

    Raises:
        TypeError: it is no finding, or a field of it holds what reports cannot tell.
    """
    if not isinstance(finding, Finding):
        if inspect.iscoroutine(finding):
            finding.close()  # or Python complains that nobody awaited it
        raise TypeError(f"expected a Finding or None, got {_kind_of(finding)}")
    return Finding(
        _place(finding.place, "place"),
        with_short_code(_words_of(finding.message, "message")),
        with_short_code(_string(finding.instead, "instead")) if finding.instead is not None else None,
        tuple(_step(each) for each in _list(finding.trace, "trace")),
        _one_of(Verdict, finding.verdict, "verdict"),
        _one_of(Cause, finding.cause, "cause"),
        tuple(_string(each, "variables") for each in _list(finding.variables, "variables")),
        _one_of(Severity, finding.severity, "severity") or rule.severity,
        rule.code,
        rule.name,
        filename,
    )


def _place(place: object, field: str) -> Place:
    if not isinstance(place, Place):
        raise TypeError(f"{field}: expected a Place, got {_kind_of(place)}")
    numbers = (place.row, place.column, place.end_row, place.end_column, place.cell, place.file)
    if any(type(each) is not int for each in numbers):
        raise TypeError(f"{field}: a Place holds integers")
    return Place(*numbers)


def _string(text: object, field: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{field}: expected a string, got {_kind_of(text)}")
    return str.__str__(text)  # none of a class of the rule's own, which other processes do not know


def _words_of(text: object, field: str) -> str:
    words = _string(text, field)
    if not words.strip():
        raise ValueError(f"{field}: is empty")
    return words


def _list(values: object, field: str) -> Iterable[object]:
    if not isinstance(values, tuple | list):
        raise TypeError(f"{field}: expected a tuple, got {_kind_of(values)}")
    return values


def _step(step: object) -> Step:
    if not isinstance(step, Step):
        raise TypeError(f"trace: expected steps, got {_kind_of(step)}")
    return Step(
        with_short_code(_words_of(step.message, "trace")), _place(step.place, "trace"), _string(step.filename, "trace")
    )


def _one_of(enum: type[E], value: object, field: str) -> E | None:
    if value is not None and not isinstance(value, enum):
        told = repr(value) if isinstance(value, str) else _kind_of(value)
        raise TypeError(f"{field}: expected a {enum.__name__}, got {told}")
    return value


def _kind_of(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def syntax_error(error: SyntaxError, filename: str) -> Finding:
    """GL001 where CPython puts it; it says which Python judged, because another one may well accept the code."""
    row = max(error.lineno or 1, 1)
    column = max(error.offset or 1, 1)
    end_row, end_column = error.end_lineno or row, max(error.end_offset or 0, 1)
    if (end_row, end_column) <= (row, column):
        end_row, end_column = row, column + 1
    message = f"{error.msg} (read as Python {sys.version_info.major}.{sys.version_info.minor})"
    return stamped(SYNTAX_ERROR, Finding(Place(row, column, end_row, end_column), message), filename)


def too_deep(filename: str) -> Finding:
    """GL001 for a file whose nesting exhausts the parser or the analysis; neither says where it was."""
    finding = Finding(START, "too deeply nested to be judged", instead="split the longest expression of the file")
    return stamped(SYNTAX_ERROR, finding, filename)


def unreadable(message: str, filename: str, place: Place = START, instead: str | None = None) -> Finding:
    """GL002."""
    return stamped(UNREADABLE_FILE, Finding(place, message, instead), filename)


def unused_suppression(name: str, place: Place, filename: str) -> Finding:
    """GL003 at one code of a comment."""
    finding = Finding(place, f"`{name}` suppresses nothing here", instead=f"remove `{name}` from the comment")
    return stamped(UNUSED_SUPPRESSION, finding, filename)


def invalid_suppression(message: str, place: Place, filename: str, instead: str | None = None) -> Finding:
    """GL004."""
    return stamped(INVALID_SUPPRESSION, Finding(place, message, instead), filename)


def internal_error(what: str, error: BaseException, filename: str) -> Finding:
    """GL009: names the exception and the line of gradlint that raised it, so that a report is worth something."""
    finding = Finding(
        START,
        f"gradlint failed in {what} ({_words(error)})",
        instead="please report this message together with the file",
    )
    return stamped(INTERNAL_ERROR, finding, filename)


def rule_failed(rule: Rule, error: BaseException, filename: str) -> Finding:
    """GL009 for a rule that raises an exception, or returns what is no finding."""
    if not rule.is_own:
        return internal_error(f"the rule {rule.code} ({rule.name})", error, filename)
    finding = Finding(
        START,
        f"the rule {rule.code} ({rule.name}) failed ({_words(error)})",
        instead=f"mend the rule, or leave it out with `--ignore {rule.code}`",
    )
    return stamped(INTERNAL_ERROR, finding, filename)


def _words(error: BaseException) -> str:
    at = ""
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        at = f" at {code.co_filename.replace(chr(92), '/').rsplit('/', 1)[-1]}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    words = f"{type(error).__name__}: {_said(error)}".rstrip(": ")
    return f"{words}{at}"


def _said(error: BaseException) -> str:
    """The words of an exception on one line, short, and the same in every run."""
    try:
        words = " ".join(_ADDRESS.sub("", str(error)).split())
    except Exception:  # of a class whose text cannot be had
        return ""
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
