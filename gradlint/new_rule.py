"""A new rule of one's own: the text of its file and of its first fixtures, which pass `gradlint test-rule` at once.

The programs are those of gradlint's own fixtures, one faulty and one look-alike per event; `rule_examples.json` holds
them, written by `tools/choose_rule_examples.py`, because fixtures are not installed.
"""

from __future__ import annotations

import difflib
import inspect
import json
import keyword
import re
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from gradlint.events import EVENTS, GradientDecision

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: The event of a new rule for which none is named: the one that no rule of gradlint takes.
DEFAULT_EVENT = GradientDecision.__name__
#: Stands for the code of the new rule in `# expect:` comments of the examples.
PLACEHOLDER = "CODE"

_EXPECT = re.compile(rf"\s*# expect: {PLACEHOLDER}\b")

_RULE = '''\
"""{summary}

## What it does
{does}

## Why it matters
Say what goes wrong, and for whom.

## What TensorFlow does
Say what it measurably does; `gradlint probe` shows it.

## Example
```python
{example}
```

## Use instead
```python
{instead}
```

## Fix safety
No fix.

## References
- Where this was agreed on.
"""

from gradlint.events import {event}
from gradlint.rule import Finding, Severity, rule


@rule("{code}", "{name}", Severity.WARNING, since="1.0")
def {function}({parameter}: {event}) -> {returns}:
{body}
'''

_BODY_OF_DECISION = """\
    # One per gradient call, and it knows {known}.
    unknown = [source for source in decision.sources if source.verdict is None]
    if not unknown:
        return None
    return Finding(
        decision.place,
        f"the {decision.asked} of `{decision.target}` is asked for `{unknown[0].source}`, of which nothing is decided",
        instead="let `gradlint flow` say which line to make plainer",
    )"""


@dataclass(frozen=True, slots=True)
class Example:
    """A faulty program and its look-alike. Lines to be found are marked with the placeholder."""

    faulty: str
    look_alike: str


@dataclass(frozen=True, slots=True)
class NewRule:
    """The files of a new rule, by their paths under the folder that it is put in."""

    code: str
    name: str
    event: str

    @property
    def path(self) -> str:
        """The rule file."""
        return f"{self.function}.py"

    @property
    def function(self) -> str:
        """The function in it."""
        name = self.name.replace("-", "_")
        return f"{name}_" if keyword.iskeyword(name) or name == "rule" else name

    @property
    def fixtures(self) -> str:
        """The folder of its programs."""
        return f"fixtures/{self.code}"

    def texts(self) -> dict[str, str]:
        """The text of each file."""
        example = examples()[self.event]
        return {
            self.path: self.rule_text(example),
            f"{self.fixtures}/{self.function}.py": example.faulty.replace(
                f"# expect: {PLACEHOLDER}", f"# expect: {self.code}"
            ),
            f"{self.fixtures}/{self.function}_look_alike.py": example.look_alike,
        }

    def rule_text(self, example: Example) -> str:
        """The text of the rule file, with these programs in its page."""
        event = EVENTS[self.event]
        values = {
            "code": self.code,
            "name": self.name,
            "event": self.event,
            "function": self.function,
            "summary": summary_of(event),
            "does": f"Finds what `gradlint.events.{self.event}` tells of, wherever it is.",
            "example": _lines_to_find(example.faulty),
            "instead": _lines_instead(example),
            "parameter": "seen",
            "returns": "Finding",
            "body": _body(event),
        }
        if event is GradientDecision:
            values |= {
                "summary": "A gradient is asked, and what becomes of it is not decided.",
                "does": "Finds gradient calls with a source of which `gradlint flow` says that it is unknown.",
                "parameter": "decision",
                "returns": "Finding | None",
                "body": _BODY_OF_DECISION.replace("{known}", ", ".join(_fields(event))),
            }
        return _RULE.format(**values)


@cache
def examples() -> dict[str, Example]:
    """The programs for each event, by its name."""
    text = (files("gradlint") / "rule_examples.json").read_text(encoding="utf-8")
    return {event: Example(each["faulty"], each["look_alike"]) for event, each in json.loads(text).items()}


def _body(event: type) -> str:
    """A decision that every event of this type is a finding."""
    names = _fields(event)
    place = next(f"seen.{each}" for each in ("place", "cut", "asked_at") if each in names)
    place = f"{place}.place" if place == "seen.cut" else place
    told = {"code": "seen.code", "cut": "seen.cut.code", "tape": "seen.tape.name", "source": "seen.source"}
    what = next((expression for field, expression in told.items() if field in names), "")
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", event.__name__).lower()
    lines = [
        f"# It knows {', '.join(names)}.",
        "return Finding(",
        f"    {place},",
        f'    f"{words}: `{{{what}}}`",' if what else f'    "{words}",',
        '    instead="say what to write",',
        *(["    trace=seen.trace,"] if "trace" in names else []),
        ")",
    ]
    return "\n".join(f"    {line}" for line in lines)


def _fields(event: type) -> list[str]:
    return [each.name for each in fields(cast("type[DataclassInstance]", event))]


def summary_of(event: type) -> str:
    """What an event tells, in one sentence."""
    text = " ".join((inspect.getdoc(event) or event.__name__).split("\n\n")[0].split())
    return f"{re.split(r'(?<=[a-z`)])[.] ', text)[0].rstrip('.')}."


def _lines_to_find(program: str) -> str:
    found = [_EXPECT.sub("", line) for line in program.splitlines() if _EXPECT.search(line)]
    return inspect.cleandoc("\n" + "\n".join(found))


def _lines_instead(example: Example) -> str:
    """The first lines in which the look-alike differs."""
    faulty, look_alike = (_code_lines(each) for each in (example.faulty, example.look_alike))
    blocks: list[Any] = difflib.SequenceMatcher(None, faulty, look_alike, autojunk=False).get_opcodes()
    for kind, _, _, start, end in blocks:
        if kind in ("replace", "insert"):
            return inspect.cleandoc("\n" + "\n".join(look_alike[start : min(end, start + 4)]))
    return "..."


def _code_lines(program: str) -> list[str]:
    body = re.sub(r'\A""".*?"""\n', "", program, flags=re.S)
    return [_EXPECT.sub("", line) for line in body.splitlines() if line.strip() and not line.startswith("import ")]
