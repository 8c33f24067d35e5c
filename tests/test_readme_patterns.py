"""The three patterns that README shows are found, and what it writes in their place is clean."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from support import ROOT, Run, codes

TITLE = "Three patterns that gradlint was asked for first"
PATTERNS = {
    "Slicing before differentiation": ("GL106",),
    "Assigning to slices": ("GL301", "GL302"),
    "Optimizers applied to unmasked variables": ("GL406",),
}
_BLOCK = re.compile(r"```python\n(.*?)```", re.S)
_CODE = re.compile(r"#.*?\b(GL\d{3})\b")


@dataclass(frozen=True)
class Block:
    """Code under one of the headings, and the codes that its comments name."""

    pattern: str
    program: str
    named: tuple[str, ...]


def blocks() -> list[Block]:
    """All code of the section, in its order."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {TITLE}\n", 1)[1].split("\n## ", 1)[0]
    return [
        Block(heading, program, tuple(_CODE.findall(program)))
        for heading, body in (each.split("\n", 1) for each in section.split("\n### ")[1:])
        for program in _BLOCK.findall(body)
    ]


def test_each_pattern_is_shown_wrong_by_its_codes_and_right() -> None:
    shown = {name: [each.named for each in blocks() if each.pattern == name] for name in PATTERNS}

    assert shown == {name: [*((code,) for code in wrong), ()] for name, wrong in PATTERNS.items()}
    assert {each.pattern for each in blocks()} == set(PATTERNS)


@pytest.mark.parametrize("block", blocks(), ids=lambda block: f"{block.pattern}: {' '.join(block.named) or 'right'}")
def test_a_block_gives_what_its_comments_name(run: Run, block: Block) -> None:
    done = run("check", "-", "--output-format", "json", stdin=block.program.encode())

    assert (codes(done.stdout), done.exit_code) == (list(block.named), int(bool(block.named)))


def test_a_finding_is_on_the_line_that_names_it(run: Run) -> None:
    for block in blocks():
        found = run("check", "-", "--output-format", "json", stdin=block.program.encode()).findings
        lines = block.program.splitlines()

        assert [_CODE.findall(lines[each["location"]["row"] - 1]) for each in found] == [[each] for each in block.named]


@pytest.mark.parametrize(("pattern", "code"), [(name, code) for name, found in PATTERNS.items() for code in found])
def test_the_page_of_a_rule_says_its_pattern(run: Run, pattern: str, code: str) -> None:
    assert f"*{pattern}*: " in run("rule", code).stdout
