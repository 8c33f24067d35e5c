"""`gradlint check` finds in each fixture what its `# expect:` comments say, and nothing else."""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("faulty", sorted((FIXTURES / "pairs").glob("*_faulty.py")), ids=lambda p: p.stem)
def test_a_pair_is_one_faulty_and_one_correct_program(faulty: Path) -> None:
    correct = faulty.with_name(faulty.name.replace("_faulty", "_correct"))
    assert expected(faulty)
    assert not expected(correct)
