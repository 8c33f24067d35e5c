"""The generated pages say what the rule files say."""

from __future__ import annotations

import re

from docs_blocks import ROOT, RULE_PAGES
from generate_docs import stale_files
from gradlint.cli.main import COMMANDS
from gradlint.rule import rules_of_gradlint
from support import Run


def test_no_generated_file_is_stale() -> None:
    assert [str(path.relative_to(ROOT)) for path in stale_files()] == [], "run `make docs`"


def test_every_rule_has_its_page() -> None:
    assert sorted(path.stem for path in RULE_PAGES.glob("GL*.md")) == [rule.code for rule in rules_of_gradlint()]


def test_the_index_links_every_rule_once() -> None:
    linked = re.findall(r"^\| \[(GL\d+)\]\(\1\.md\) \| `", (RULE_PAGES / "index.md").read_text(encoding="utf-8"), re.M)

    assert linked == [rule.code for rule in rules_of_gradlint()]


def test_the_command_reference_says_what_help_says(run: Run) -> None:
    page = _words((ROOT / "docs" / "commands.md").read_text(encoding="utf-8").replace("\\|", "|"))
    for name in COMMANDS:
        options = run(name, "--help").stdout.partition("Options:\n")[2]
        for described in re.split(r"^  (?=-)", options, flags=re.M)[1:]:
            names, _, text = described.partition("  ")
            if "--help" not in names:
                assert _words(re.sub(r"\s+\[[^]]*\]$", "", text.strip())) in page
                assert all(f"`{each}`" in page for each in re.findall(r"(?<![\w|-])--?[\w-]+", names))


def _words(text: str) -> str:
    return " ".join(text.split())
