"""`from gradlint import check_paths, check_source`: what the command line finds, as values, on any executor."""

from __future__ import annotations

import gc
import json
import multiprocessing
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradlint
from gradlint import (
    Cause,
    Finding,
    Place,
    RunError,
    Settings,
    Severity,
    Step,
    Verdict,
    check_paths,
    check_source,
    load_settings,
)
from support import BROKEN, CLEAN, FAULTY, ROOT, Run

T = TypeVar("T")
FIXTURES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("fixtures/GL[12]*/*.py"))
DEEP = f"import tensorflow as tf\nx = {'-' * 4000}tf.constant(1.0)\n"


class AtOnce(Executor):
    """An executor of somebody's own: it runs what is submitted before it answers."""

    def __init__(self) -> None:
        self.submitted = 0
        self.ended = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        self.submitted += 1
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.ended = True


class Lost(AtOnce):
    """A pool whose processes are gone."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        future.set_exception(BrokenExecutor("a process died"))
        return future


def told(findings: tuple[Finding, ...]) -> list[tuple[str, int, str]]:
    return [(finding.filename, finding.place.row, finding.code) for finding in findings]


def as_json(finding: Finding) -> dict[str, Any]:
    """What the JSON report says of a finding, from its documented fields alone."""

    def located(place: Place) -> dict[str, Any]:
        return {
            "location": {"row": place.row, "column": place.column},
            "end_location": {"row": place.end_row, "column": place.end_column},
            "cell": place.cell or None,
        }

    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "filename": finding.filename,
        "severity": finding.severity.value if finding.severity else None,
        "verdict": finding.verdict.value if finding.verdict else None,
        "cause": finding.cause.value if finding.cause else None,
        "variables": list(finding.variables),
        "origin": finding.origin.value,
        "confirmation": finding.confirmation.value if finding.confirmation else None,
        "trace": [
            {"message": step.message, "filename": step.filename or finding.filename, **located(step.place)}
            for step in finding.trace
        ],
        **located(finding.place),
    }


@pytest.fixture
def project(run: Run) -> Run:
    """Forty files, every other one with the same fault."""
    for number in range(40):
        run.write(f"src/part_{number:02}.py", FAULTY if number % 2 else CLEAN)
    return run


FOUND = [(f"src/part_{number:02}.py", 3, "GL101") for number in range(1, 40, 2)]


def test_source_is_judged_as_text_and_as_bytes() -> None:
    (finding,) = check_source(FAULTY)

    assert check_source(FAULTY.encode()) == (finding,)
    assert (finding.code, finding.name, finding.severity) == ("GL101", "forward-outside-tape", Severity.ERROR)
    assert (finding.verdict, finding.cause, finding.variables) == (Verdict.NONE, Cause.OUTSIDE_TAPE, ("w",))
    assert (finding.filename, finding.place) == ("<string>", Place(3, 8, 3, 13))
    assert finding.message == "`w` gets None: `w * w` is computed before the tape opens"
    assert finding.trace[-1] == Step("gradient asked here", Place(5, 5, 5, 27))


def test_correct_source_has_no_findings() -> None:
    assert check_source(CLEAN) == ()


def test_source_that_is_no_python_is_a_finding() -> None:
    assert told(check_source(BROKEN, "broken.py")) == [("broken.py", 2, "GL001")]


@pytest.mark.parametrize(
    "comment", ["# -*- coding: latin-1 -*-\n", "#!/usr/bin/python\n# vim: set fileencoding=utf-7 :\n", "\n# coding=x\n"]
)
def test_text_has_no_encoding_whatever_its_comments_say(comment: str) -> None:
    (finding,) = check_source(comment + FAULTY.replace("loss", "größe"))

    assert finding.place.row == 3 + comment.count("\n")
    assert finding.place == Place(finding.place.row, 9, finding.place.row, 14)


def test_bytes_have_the_encoding_that_they_name() -> None:
    (finding,) = check_source(("# coding: latin-1\n" + FAULTY.replace("loss", "größe")).encode("latin-1"))

    assert finding.place == Place(4, 9, 4, 14)


def test_a_notebook_is_told_by_the_end_of_its_name() -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "source": FAULTY,
        "outputs": [],
        "execution_count": None,
    }
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    (finding,) = check_source(notebook, "lesson.ipynb")

    assert (finding.place.cell, finding.place.row) == (1, 3)


def test_settings_choose_the_rules() -> None:
    assert check_source(FAULTY, settings=Settings(ignore=("GL101",))) == ()


def test_without_settings_those_of_the_project_hold(run: Run) -> None:
    run.write("pyproject.toml", '[tool.gradlint]\nignore = ["forward-outside-tape"]\n')
    run.write("src/train.py", FAULTY)

    assert check_paths("src") == ()
    assert check_source(FAULTY, "src/train.py") == ()
    assert len(check_paths("src", settings=Settings())) == 1


def test_bad_settings_are_a_run_error(run: Run) -> None:
    run.write("pyproject.toml", '[tool.gradlint]\nignore = ["GL1O1"]\n')

    with pytest.raises(RunError, match=r"pyproject\.toml:2: ignore: no rule"):
        check_paths(".")


def test_a_path_may_be_one_or_several_and_text_or_path(project: Run) -> None:
    two: list[str | Path] = ["src/part_01.py", Path("src/part_03.py")]

    assert told(check_paths(two)) == FOUND[:2]
    assert told(check_paths("src/part_01.py")) == told(check_paths(Path("src/part_01.py"))) == FOUND[:1]
    assert check_paths([]) == ()


def test_a_missing_path_is_a_run_error_before_anything_is_judged(project: Run) -> None:
    executor = AtOnce()

    with pytest.raises(RunError, match=r"^nowhere\.py: no such file; nothing: no such file$"):
        check_paths(["src", "nowhere.py", "nothing"], executor=executor)
    assert executor.submitted == 0


def test_files_that_cannot_be_read_are_findings(run: Run) -> None:
    run.write("odd.py", b"import tensorflow\0")

    assert told(check_paths("odd.py")) == [("odd.py", 1, "GL002")]


@pytest.mark.parametrize("jobs", [None, 1, 2])
def test_any_number_of_jobs_finds_the_same(project: Run, jobs: int | None) -> None:
    assert told(check_paths("src", jobs=jobs)) == FOUND


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_pools_of_processes_are_used_and_given_back(project: Run, method: str) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert told(check_paths("src", executor=pool)) == FOUND
        assert pool.submit(abs, -3).result() == 3


def test_threads_find_the_same_as_often_as_they_are_asked(project: Run) -> None:
    project.write("src/part_00.py", DEEP)
    with ThreadPoolExecutor(4) as pool:
        assert [told(check_paths("src", executor=pool)) for _ in range(3)] == [FOUND] * 3
        assert pool.submit(abs, -3).result() == 3


def test_threads_find_in_many_programs_what_one_thread_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with ThreadPoolExecutor(6) as pool:
        assert check_paths(FIXTURES[:150], executor=pool) == check_paths(FIXTURES[:150])


def test_an_executor_of_ones_own_needs_nothing_but_submit(project: Run) -> None:
    executor = AtOnce()

    assert told(check_paths("src", executor=executor)) == FOUND
    assert executor.submitted > 1
    assert not executor.ended


def test_files_that_change_between_two_runs_on_one_pool_are_read_anew(run: Run) -> None:
    run.write("scale.py", "import tensorflow as tf\ndef half(x):\n    return x / 2.0\n")
    run.write(
        "train.py",
        "import tensorflow as tf\nfrom scale import half\nw = tf.Variable(1.0)\n"
        "with tf.GradientTape() as tape:\n    loss = half(w)\ng = tape.gradient(loss, w)\n",
    )
    with ProcessPoolExecutor(1) as pool:
        assert check_paths(".", executor=pool) == ()
        run.write("scale.py", "import tensorflow as tf\ndef half(x):\n    return tf.round(x)\n")
        assert told(check_paths(".", executor=pool)) == [("scale.py", 3, "GL202")]


def test_a_pool_that_dies_loses_no_file(project: Run) -> None:
    assert told(check_paths("src", executor=Lost())) == FOUND


def test_what_an_executor_raises_is_raised_and_what_waits_is_cancelled(project: Run) -> None:
    class Refusing(AtOnce):
        waiting: Future[Any]

        def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
            self.submitted += 1
            if self.submitted == 2:
                raise RuntimeError("no more")
            self.waiting = Future()
            return self.waiting

    executor = Refusing()

    with pytest.raises(RuntimeError, match="no more"):
        check_paths("src", executor=executor)
    assert executor.waiting.cancelled()


def test_jobs_and_an_executor_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="jobs and executor: give one of them"):
        check_paths(".", executor=AtOnce(), jobs=2)
    with pytest.raises(ValueError, match="jobs: expected at least 1, got 0"):
        check_paths(".", jobs=0)


@pytest.fixture
def process_state() -> Iterator[Callable[[], tuple[object, ...]]]:
    yield lambda: (
        sys.getrecursionlimit(),
        gc.isenabled(),
        gc.get_freeze_count(),
        list(warnings.filters),
        threading.stack_size(),
        multiprocessing.active_children(),
    )


@pytest.mark.parametrize("workers", [1, 4])
def test_the_process_is_left_as_it_was(
    project: Run, process_state: Callable[[], tuple[object, ...]], workers: int
) -> None:
    project.write("src/part_00.py", DEEP)
    with ThreadPoolExecutor(workers) as pool:
        before = process_state()
        check_paths("src", executor=pool)
        check_paths("src")
        assert process_state() == before


def test_nothing_is_printed(project: Run, capfd: pytest.CaptureFixture[str]) -> None:
    project.write("odd.py", "import tensorflow\ns = '\\d'\n")

    check_paths(".", jobs=2)
    check_source("import tensorflow\ns = '\\d'\n")

    assert capfd.readouterr() == ("", "")


def test_findings_are_values() -> None:
    (finding,) = check_source(FAULTY)

    with pytest.raises(FrozenInstanceError):
        finding.code = "GL000"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(finding)) == finding
    assert len({finding, *check_source(FAULTY)}) == 1


def test_settings_take_what_a_file_would_hold(run: Run) -> None:
    run.write("a.py", FAULTY)
    run.write("old/b.py", FAULTY)
    nothing: list[Finding] = []

    assert [finding.filename for finding in check_paths(".", settings=Settings(exclude=["old/"]))] == ["a.py"]
    assert list(check_paths(".", settings=Settings(select=["GL2"]))) == nothing
    assert list(check_paths(".", settings=Settings(per_file_ignores={"*.py": ["GL1"]}))) == nothing
    hints = check_paths(".", settings=Settings(root=str(run.folder), severity={"GL1": "info"}, fail_level="error"))
    assert [finding.severity for finding in hints] == [Severity.INFO, Severity.INFO]
    again = Settings(severity=(("GL1", Severity.INFO),), src=(Path("old"),), keras=2)
    assert Settings(severity=again.severity, src=again.src, keras=again.keras) == again


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"select": "GL1"}, "select: expected a list of strings, got 'GL1'"),
        ({"select": ("GL19",)}, 'select: no rule "GL19"'),
        ({"ignore": ("bogus",)}, 'ignore: no rule "bogus"'),
        ({"keras": 7}, "keras: expected 2 or 3, got 7"),
        ({"src": "src"}, "src: expected a list of strings, got 'src'"),
        ({"exclude": [3]}, "exclude: expected a string, got 3"),
        ({"severity": {"GL1": "fatal"}}, 'severity.GL1: expected "error", "warning" or "info", got \'fatal\''),
        ({"severity": ("GL1",)}, "severity: expected a table of rules and severities, got ('GL1',)"),
        ({"per_file_ignores": {"a.py": "GL1"}}, "per_file_ignores.a.py: expected a list of strings, got 'GL1'"),
        ({"include_docs": 1}, "include_docs: expected true or false, got 1"),
        ({"fail_level": None}, 'fail_level: expected "error", "warning" or "info", got None'),
        ({"rules": ["nowhere.py"]}, None),
        ({"extend": "a.toml"}, "extend: only a file can extend another one"),
        ({"root": 3}, "root: expected a path, got int"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(run: Run, values: dict[str, Any], message: str | None) -> None:
    with pytest.raises(RunError) as raised:
        Settings(**values)

    assert str(raised.value) == (f"settings: {message}" if message else "nowhere.py: no such file")


def test_rules_of_ones_own_can_be_selected(run: Run) -> None:
    assert run("new-rule", "ACME001", "no-hidden-models", "--event", "ItemAssigned").exit_code == 0

    assert Settings(rules=["no_hidden_models.py"], select=["ACME001"]).selected >= {"ACME001"}


@pytest.mark.parametrize("source", [Path("a.py"), 5, None, ["import tensorflow"]])
def test_source_is_text_or_bytes(source: Any) -> None:
    with pytest.raises(TypeError, match="source: expected the text or the bytes of a program, not "):
        check_source(source)


def test_paths_are_taken_as_text_and_as_path_alike(run: Run) -> None:
    run.write("sub/gradlint.toml", "keras = 2\n")
    run.write("sub/a.py", FAULTY)

    for path in ("sub/a.py", Path("sub/a.py"), ["sub/a.py"], [Path("sub/a.py")]):
        assert load_settings(path).keras == 2
        assert told(check_paths(path)) == [("sub/a.py", 3, "GL101")]
    assert told(check_source(FAULTY, Path("sub/b.py"))) == [("sub/b.py", 3, "GL101")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5,), "'int' object is not iterable"),
        (([5],), "expected str, bytes or os.PathLike object, not int"),
        ((b"a.py",), "expected str, bytes or os.PathLike object, not int"),
        (([b"a.py"],), "expected str or os.PathLike of str, not bytes"),
    ],
)
def test_what_is_no_path_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        check_paths(*arguments)


def test_other_arguments_of_the_wrong_type_are_refused(run: Run) -> None:
    wrong: Any = {"select": ["GL1"]}

    with pytest.raises(TypeError, match=r"settings: expected a gradlint.Settings, not dict"):
        check_paths(".", settings=wrong)
    with pytest.raises(TypeError, match=r"settings: expected a gradlint.Settings, not dict"):
        check_source(FAULTY, settings=wrong)
    with pytest.raises(TypeError, match=r"executor: expected a concurrent.futures.Executor, not dict"):
        check_paths(".", executor=wrong)
    with pytest.raises(RunError, match=r'^"": no such file$'):
        check_paths("")


def test_settings_and_errors_travel_between_processes(run: Run) -> None:
    chosen = Settings(select=("GL1",), differentiable=("a.b",))

    assert pickle.loads(pickle.dumps(chosen)) == chosen
    assert str(pickle.loads(pickle.dumps(RunError("a.toml:1: no")))) == "a.toml:1: no"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.lists(st.sampled_from(FIXTURES), min_size=1, max_size=6, unique=True))
def test_the_command_line_finds_the_same(files: list[str], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    reported = run("check", *files, "--output-format", "json").findings

    assert [as_json(finding) for finding in check_paths(files)] == [
        {key: entry[key] for key in as_json(check_source(FAULTY)[0])} for entry in reported
    ]


def test_what_is_exported_is_there_and_loaded_when_it_is_asked_for() -> None:
    program = (
        "import sys, gradlint\n"
        "assert not {'gradlint.api', 'gradlint.rule', 'libcst', 'ast'} & set(sys.modules), sorted(sys.modules)\n"
        "from gradlint import *\n"
        "assert callable(check_paths) and Severity.ERROR\n"
    )

    subprocess.run([sys.executable, "-S", "-c", program], cwd=ROOT, check=True)
    assert [name for name in gradlint.__all__ if not hasattr(gradlint, name)] == []
    assert set(gradlint.__all__) <= set(dir(gradlint))
    with pytest.raises(AttributeError, match="has no attribute 'check_path'"):
        _ = gradlint.check_path


def test_every_exported_name_and_field_is_documented() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")

    assert [name for name in gradlint.__all__ if f"`{name}" not in page] == []
    assert [each.name for kind in (Finding, Place, Step) for each in fields(kind) if f"`{each.name}`" not in page] == []


CONSUMER = """\
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gradlint import Cause, Finding, RunError, Settings, Severity, Verdict, check_paths, check_source


def errors(folder: Path) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    with ThreadPoolExecutor() as pool:
        for finding in check_paths([folder], settings=Settings(select=("GL1",)), executor=pool):
            if finding.severity is Severity.ERROR and finding.verdict is not Verdict.ZERO:
                found.setdefault(finding.filename, []).append(finding)
    return found


def first_cause(text: str) -> Cause | None:
    try:
        return next((finding.cause for finding in check_source(text)), None)
    except RunError:
        return None


place: str = check_source("")[0].place  # an error: it is a Place
"""


def test_a_program_of_a_user_passes_mypy_strict(tmp_path: Path) -> None:
    (tmp_path / "consumer.py").write_text(CONSUMER)
    command = ["-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary", "--config-file="]

    done = subprocess.run(
        [sys.executable, *command, "--cache-dir", str(tmp_path / "cache"), "consumer.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines() == [
        'consumer.py:23: error: Incompatible types in assignment (expression has type "Place", variable has type "str")'
        "  [assignment]"
    ]
