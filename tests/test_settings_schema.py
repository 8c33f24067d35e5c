"""The JSON schema of the settings: a valid schema, fresh, and of one mind with what gradlint reads."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

import jsonschema
import pytest

from gradlint.config import settings_from
from gradlint.errors import RunError
from gradlint.rule import rules_of_gradlint
from gradlint.settings.definition import all_settings
from support import ROOT, Run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCHEMA: dict[str, Any] = json.loads((ROOT / "gradlint.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def is_read(table: dict[str, Any]) -> bool:
    try:
        settings_from(table)
    except RunError:
        return False
    return True


def test_the_schema_is_one_and_knows_every_setting() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)

    assert list(SCHEMA["properties"]) == list(all_settings())


@pytest.mark.parametrize("key", list(all_settings()))
def test_the_example_of_each_setting_is_valid_and_read(key: str, run: Run) -> None:
    assert run("new-rule", "OUR001", "our-rule", "--path", "tools").exit_code == 0
    os.rename("tools/our_rule.py", "tools/our_rules.py")
    table = tomllib.loads(all_settings()[key][1].example)

    assert list(table) == [key]
    VALIDATOR.validate(table)
    assert is_read(table)


@pytest.mark.parametrize("key", list(all_settings()))
def test_the_default_of_each_setting_is_valid_and_read(key: str) -> None:
    told = SCHEMA["properties"][key]

    if "default" in told:
        VALIDATOR.validate({key: told["default"]})
        assert is_read({key: told["default"]})


def test_every_rule_can_be_named() -> None:
    for rule in rules_of_gradlint():
        for word in (rule.code, rule.name, rule.code[:3]):
            VALIDATOR.validate({"select": [word], "severity": {word: "info"}})


@pytest.mark.parametrize(
    "table",
    [
        {"selct": []},
        {"select": "GL1"},
        {"select": [1]},
        {"ignore": ["GL1O1"]},
        {"per-file-ignores": ["GL1"]},
        {"per-file-ignores": {"tests": "GL1"}},
        {"severity": {"GL101": "off"}},
        {"severity": {"GL1O1": "error"}},
        {"keras": 4},
        {"keras": True},
        {"keras": "3"},
        {"keras": 2.5},
        {"include-docs": "yes"},
        {"differentiable": ["my lib"]},
        {"output-format": "fancy"},
        {"fail-level": "fatal"},
        {"cache-dir": ""},
        {"extend": 3},
        {"exclude": [""]},
        {"extend-exclude": ["!"]},
        {"src": [""]},
        {"rules": [""]},
        {"per-file-ignores": {"": ["GL1"]}},
    ],
    ids=str,
)
def test_what_the_schema_refuses_is_refused(table: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(table)
    assert not is_read(table)


def test_a_number_may_be_written_with_a_point() -> None:
    VALIDATOR.validate({"keras": 2.0})
    assert settings_from({"keras": 2.0}).keras == 2


def test_the_settings_of_the_readme_and_of_the_page_are_valid() -> None:
    blocks = [
        block
        for page in ("README.md", "docs/settings.md")
        for block in re.findall(r"```toml\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)
    ]

    assert len(blocks) > len(all_settings())
    for block in blocks:
        table = tomllib.loads(block)
        VALIDATOR.validate(table.get("tool", {}).get("gradlint", table))
