"""The site builds without a warning, and every page of docs/ is in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support import ROOT

DOCS = ROOT / "docs"


def test_the_site_builds_strictly(tmp_path: Path) -> None:
    pytest.importorskip("material")

    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "site" / "rules" / "GL101" / "index.html").is_file()


def test_every_page_but_those_of_rules_is_in_the_navigation() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if not page.stem.startswith("GL")}

    assert sorted(_pages(settings["nav"])) == sorted(pages)


def test_the_links_of_readme_lead_to_files() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)#:]+)\)", text)

    assert linked
    assert [link for link in linked if not (ROOT / link).is_file()] == []


def _pages(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, list):
        for each in nav:
            yield from _pages(each)
    else:
        for each in nav.values():
            yield from _pages(each)
