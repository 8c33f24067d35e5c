"""The generated pages say what the rule files say."""

from __future__ import annotations

from generate_docs import PAGES, ROOT, stale_files
from gradlint.rule import rules_of_gradlint


def test_no_generated_file_is_stale() -> None:
    assert [str(path.relative_to(ROOT)) for path in stale_files()] == [], "run `make docs`"


def test_every_rule_has_its_page() -> None:
    assert sorted(path.stem for path in PAGES.glob("*.md")) == [rule.code for rule in rules_of_gradlint()]
