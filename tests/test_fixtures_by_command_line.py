"""`gradlint check` finds in each fixture what its `# expect:` comments say, and nothing else."""

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from fixtures_under_tensorflow import runs

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
PROGRAMS = sorted(FIXTURES.rglob("*.py"))
EXPECT = re.compile(r"#\s*expect:\s*(GL\d{3}(?:\s*,\s*GL\d{3})*)")

Marks = set[tuple[int, str]]  # (row, code)


def expected(program: Path) -> Marks:
    return {
        (row, code)
        for row, line in enumerate(program.read_text(encoding="utf-8").splitlines(), start=1)
        for match in EXPECT.finditer(line)
        for code in re.split(r"\s*,\s*", match[1])
    }


@pytest.fixture(scope="module")
def found() -> dict[Path, Marks]:
    """One run over all fixtures, from the project's own folder."""
    run = subprocess.run(
        [sys.executable, "-m", "gradlint", "check", "--output-format", "json", "fixtures/"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    marks: dict[Path, Marks] = defaultdict(set)
    for finding in json.loads(run.stdout):
        marks[(ROOT / finding["filename"]).resolve()].add((finding["location"]["row"], finding["code"]))
    return marks


@pytest.mark.parametrize("program", PROGRAMS, ids=[str(p.relative_to(FIXTURES)) for p in PROGRAMS])
def test_findings_are_those_expected(program: Path, found: dict[Path, Marks]) -> None:
    assert found.get(program, set()) == expected(program)


@pytest.mark.parametrize("folder", sorted(p for p in FIXTURES.glob("GL*") if p.is_dir()), ids=lambda p: p.name)
def test_each_rule_has_faulty_programs_and_look_alikes(folder: Path) -> None:
    faulty = [p for p in folder.glob("*.py") if any(code == folder.name for _, code in expected(p))]
    look_alikes = [p for p in folder.glob("*.py") if not expected(p)]
    assert len(faulty) >= 2
    assert len(look_alikes) >= 2


@pytest.mark.parametrize("folder", ["pairs", "situations"])
def test_a_pair_is_one_faulty_and_one_correct_program(folder: str) -> None:
    faulty = {p.stem.removesuffix("_faulty") for p in (FIXTURES / folder).glob("*_faulty.py") if expected(p)}
    correct = {p.stem.removesuffix("_correct") for p in (FIXTURES / folder).glob("*_correct.py") if not expected(p)}
    assert faulty == correct
    assert len(list((FIXTURES / folder).glob("*.py"))) == 2 * len(faulty)


@pytest.mark.parametrize("folder", ["correct", "open_code"])
def test_correct_programs_expect_nothing(folder: str) -> None:
    programs = list((FIXTURES / folder).glob("*.py"))
    assert programs
    assert [p.name for p in programs if expected(p)] == []


def test_open_code_alone_is_not_run() -> None:
    not_run = {p for p in PROGRAMS if not runs(p.read_text(encoding="utf-8"))}
    assert not_run == set((FIXTURES / "open_code").glob("*.py"))


@pytest.mark.parametrize("program", sorted((FIXTURES / "open_code").glob("*.py")), ids=lambda p: p.stem)
def test_open_code_only_defines(program: Path) -> None:
    module = ast.parse(program.read_text(encoding="utf-8"))
    statements = [s for s in module.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)]
    assert [ast.unparse(s) for s in statements] == []
