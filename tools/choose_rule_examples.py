"""Writes gradlint/rule_examples.json: for each event, the two programs that `gradlint new-rule` starts a rule with.

`python tools/choose_rule_examples.py` takes, of the fixtures of rules that subscribe to the event, a short faulty
program and the look-alike nearest to it. Lines are marked where the rule that `new-rule` writes finds something. The
programs for `GradientDecision`, which no rule of gradlint subscribes to, stand here.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from gradlint import Settings, check_paths
from gradlint.events import EVENTS
from gradlint.new_rule import DEFAULT_EVENT, PLACEHOLDER, Example, NewRule
from gradlint.rule import rules_of_gradlint

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "gradlint" / "rule_examples.json"
OF_DECISION = (
    '''"""A model is given from outside: what its call does cannot be seen."""

import tensorflow as tf


def gradients_of(model, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    return tape.gradient(loss, model.trainable_variables)
''',
    '''"""A model is made where the gradient is asked."""

import tensorflow as tf


def gradients_of(x):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    return tape.gradient(loss, model.trainable_variables)
''',
)

Marks = dict[str, set[int]]  # rows in which the new rule of an event finds something, by event


def main() -> int:
    """Choose and write; name the events without an example."""
    candidates = programs_by_event()
    marks = marks_of({text for texts in candidates.values() for text in texts})
    chosen = {event: nearest(event, texts, marks) for event, texts in sorted(candidates.items())}
    text = json.dumps({event: asdict(each) for event, each in chosen.items() if each}, indent=2, ensure_ascii=False)
    FILE.write_text(f"{text}\n", encoding="utf-8")
    missing = [event for event in EVENTS if not chosen.get(event)]
    if missing:
        print(f"no example for {', '.join(missing)}")
    return int(bool(missing))


def programs_by_event() -> dict[str, list[str]]:
    """The fixtures of the rules that take an event, without what is said about them."""
    programs: dict[str, list[str]] = defaultdict(list, {DEFAULT_EVENT: list(OF_DECISION)})
    for rule in rules_of_gradlint():
        if rule.event is not None:
            fixtures = sorted((ROOT / "fixtures" / rule.code).glob("*.py"))
            programs[rule.event.__name__] += [bare(path.read_text(encoding="utf-8")) for path in fixtures]
    return programs


def bare(fixture: str) -> str:
    """A fixture without its header and its marks."""
    return re.sub(r"\s*# expect: .*", "", re.sub(r"^# tensorflow:.*\n", "", fixture, flags=re.M))


def marks_of(programs: Iterable[str]) -> dict[str, Marks]:
    """Where the new rules of all events find something in each program."""
    found: dict[str, Marks] = defaultdict(lambda: defaultdict(set))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rules = []
        for number, event in enumerate(EVENTS, 100):
            rule = NewRule(f"EX{number}", f"rule-{number}", event)
            rules.append(str(folder / rule.path))
            Path(rules[-1]).write_text(rule.rule_text(Example("", "")), encoding="utf-8")
        paths = {}
        for number, program in enumerate(sorted(programs)):
            path = folder / f"program_{number}" / "program.py"
            path.parent.mkdir()
            path.write_text(program, encoding="utf-8")
            paths[str(path)] = program
        for finding in check_paths(list(paths), settings=Settings(root=folder, select=("EX",), rules=tuple(rules))):
            event = list(EVENTS)[int(finding.code[2:]) - 100]
            found[paths[finding.filename]][event].add(finding.place.row)
    return found


def nearest(event: str, programs: Iterable[str], marks: dict[str, Marks]) -> Example | None:
    """The shortest pair of a faulty program and a correct one that differs from it in little."""
    faulty = [each for each in programs if marks[each].get(event)]
    correct = [each for each in programs if not marks[each].get(event)]
    pairs = [(one, other) for one in faulty for other in correct]
    if not pairs:
        return None
    one, other = min(pairs, key=lambda pair: (cost(*pair), pair))
    return Example(marked(one, marks[one][event]), other)


def cost(one: str, other: str) -> int:
    """How many lines there are to read, those that differ (the docstrings aside) counted four times."""
    rows = one.splitlines()[1:], other.splitlines()[1:]
    return sum(4 if row.startswith(("+", "-")) else 1 for row in difflib.ndiff(*rows))


def marked(program: str, rows: set[int]) -> str:
    """The program with its lines to find marked."""
    lines = program.split("\n")
    for row in rows:
        lines[row - 1] += f"  # expect: {PLACEHOLDER}"
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
