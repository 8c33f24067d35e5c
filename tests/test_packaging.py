"""What is installed: the rules are the package `gradlint.rules`, and the folder of rules is its only home."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
import setuptools

from support import ROOT


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What setup.py hands to setuptools."""
    told: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", lambda **options: told.update(options))
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(ROOT / "setup.py"))
    return told


def test_every_family_of_rules_is_packed_once(packed: dict[str, Any]) -> None:
    families = {f"gradlint.rules.{path.parent.name}" for path in ROOT.glob("rules/*/__init__.py")}

    assert sorted(packed["packages"]) == sorted(set(packed["packages"]))
    assert families | {"gradlint.rules"} <= set(packed["packages"])
    assert packed["package_dir"] == {"gradlint.rules": "rules"}


def test_every_package_of_the_engine_is_packed(packed: dict[str, Any]) -> None:
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "gradlint").rglob("__init__.py")}

    assert folders <= set(packed["packages"])


def test_the_link_for_type_checkers_leads_to_the_rules() -> None:
    assert (ROOT / "gradlint" / "rules").resolve() == ROOT / "rules"
