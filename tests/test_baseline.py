"""The baseline: what is accepted is not told again, what is new is, what is fixed is named; fingerprints stay."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlint.fingerprints import normalised, without_blanks
from gradlint.rule import Finding
from support import BROKEN, CLEAN, FAULTY, Outcome, Run, check, codes

#: Two functions with the same fault on the same line of text.
TWICE = """\
import tensorflow as tf


class Trainer:
    def first(self, w):
        loss = w * w
        with tf.GradientTape() as tape:
            pass
        return tape.gradient(loss, w)


def second(w):
    loss = w * w
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(loss, w)


w = tf.Variable(1.0)
Trainer().first(w)
second(w)
"""
#: The fault stands in the library, and is seen when it is called.
LIBRARY = "import tensorflow as tf\n\n\ndef loss_of(w):\n    return tf.round(w) * 3.0\n"
CALLER = """\
import tensorflow as tf
from {module} import loss_of
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = loss_of(w)
tape.gradient(loss, w)
"""


def fingerprints(text: str) -> list[str]:
    return [str(finding.fingerprint) for finding in check(text)]


def entries(run: Run, name: str = "base.json") -> list[dict[str, Any]]:
    found = json.loads((run.folder / name).read_text())["findings"]
    assert isinstance(found, list)
    return found


def accepted(run: Run) -> Outcome:
    return run("check", "--baseline", "base.json", "--output", "json")


def test_what_is_accepted_is_not_told_and_does_not_count(run: Run) -> None:
    run.write("train.py", FAULTY)

    written = run("check", "--write-baseline", "base.json")

    assert (written.exit_code, written.stderr) == (0, "gradlint: base.json: 1 entry written\n")
    assert run("check").exit_code == 1
    assert run("check", "--baseline", "base.json") == Outcome(
        0,
        "No new findings. 1 finding in the baseline is not shown. (1 file, 1 of them with TensorFlow or Keras)\n"
        "Decided 1 of 1 source (100%) in 1 gradient call.\n",
        "",
    )
    assert accepted(run) == Outcome(0, "[]\n", "gradlint: 1 finding in the baseline is not shown.\n")


def test_what_is_new_is_told_and_counts(run: Run) -> None:
    run.write("train.py", FAULTY)
    run("check", "--write-baseline", "base.json")
    run.write("new.py", FAULTY)

    outcome = run("check", "--baseline", "base.json", "--output", "concise")

    assert outcome.exit_code == 1
    assert outcome.stdout.startswith("new.py:3:8: error GL101")
    assert outcome.stdout.endswith(
        "Found 1 finding (1 error, 0 warnings). 1 finding in the baseline is not shown.\n"
        "Decided 2 of 2 sources (100%) in 2 gradient calls.\n"
    )


def test_the_file_is_json_with_a_sorted_line_per_entry(run: Run) -> None:
    run.write("b/train.py", TWICE)
    run.write("a.py", FAULTY)

    run("check", "--write-baseline", "base.json")

    assert (run.folder / "base.json").read_text() == (
        "{\n"
        '  "version": 1,\n'
        '  "tool": "gradlint",\n'
        '  "findings": [\n'
        '    {"path": "a.py", "rule": "GL101", "scope": "", "line": "loss = w * w", "index": 0},\n'
        '    {"path": "b/train.py", "rule": "GL101", "scope": "Trainer.first", "line": "loss = w * w", "index": 0},\n'
        '    {"path": "b/train.py", "rule": "GL101", "scope": "second", "line": "loss = w * w", "index": 0}\n'
        "  ]\n"
        "}\n"
    )


def test_a_baseline_of_nothing_is_one_too(run: Run) -> None:
    run.write("train.py", CLEAN)

    run("check", "--write-baseline", "base.json")

    assert entries(run) == []
    assert accepted(run) == Outcome(0, "[]\n", "")


MOVED = {
    "lines above": f"# note\n\n{FAULTY}",
    "a comment": FAULTY.replace("loss = w * w", "loss = w * w  # to do"),
    "blank space": FAULTY.replace("loss = w * w", "loss  =  w*w"),
    "line ends": FAULTY.replace("\n", "\r\n"),
    "code elsewhere": FAULTY.replace("w = tf.Variable(1.0)", "w = tf.Variable(2.0)\nb = 1"),
}


@pytest.mark.parametrize("text", MOVED.values(), ids=MOVED)
def test_moving_and_reformatting_code_leaves_a_fingerprint(text: str) -> None:
    assert len(check(text)) == 1
    assert fingerprints(text) == fingerprints(FAULTY)


CHANGED = {
    "the line": FAULTY.replace("loss = w * w", "loss = w * w * w"),
    "a string of it": FAULTY.replace("loss = w * w", "loss = tf.add(w, w, name='a  b')"),
    "the same but for blanks in a string": FAULTY.replace("loss = w * w", "loss = tf.add(w, w, name='a b')"),
    "another scope": "import tensorflow as tf\nw = tf.Variable(1.0)\ndef f():\n    loss = w * w\n"
    "    with tf.GradientTape() as tape: pass\n    return tape.gradient(loss, w)\nf()\n",
}


def test_changing_the_line_or_its_scope_changes_a_fingerprint() -> None:
    assert all(len(check(text)) == 1 for text in CHANGED.values())
    assert len({*fingerprints(FAULTY), *(fingerprints(text)[0] for text in CHANGED.values())}) == 1 + len(CHANGED)


def test_equal_lines_of_a_scope_are_told_apart() -> None:
    again = FAULTY.split("\n", 2)[2]

    assert len(set(fingerprints(FAULTY + again + again))) == 3


def test_fixing_one_and_adding_another_is_seen(run: Run) -> None:
    run.write("train.py", TWICE)
    run("check", "--write-baseline", "base.json")
    fixed = TWICE.replace("        loss = w * w\n", "").replace("            pass", "            loss = w * w", 1)
    added = TWICE[TWICE.index("def second") : TWICE.index("\n\nw = ")].replace("second", "third")
    run.write("train.py", f"{fixed}\n\n{added}\n\nthird(w)\n")

    outcome = accepted(run)

    assert outcome.exit_code == 1
    assert [each["location"]["row"] for each in outcome.findings] == [24]
    assert outcome.stderr == (
        "gradlint: base.json: fixed: train.py: GL101 in Trainer.first: loss = w * w\n"
        "gradlint: base.json: 1 entry no longer found; --prune-baseline removes what is fixed\n"
        "gradlint: 1 finding in the baseline is not shown.\n"
    )


def test_what_is_fixed_is_pruned_on_request_and_nothing_else(run: Run) -> None:
    run.write("train.py", FAULTY)
    run.write("other.py", FAULTY)
    run("check", "--write-baseline", "base.json")
    run.write("train.py", CLEAN)
    assert len(entries(run)) == 2

    pruned = run("check", "--baseline", "base.json", "--prune-baseline", "--output", "json")

    assert pruned.exit_code == 0
    assert pruned.stderr.splitlines()[:2] == [
        "gradlint: base.json: fixed: train.py: GL101: loss = w * w",
        "gradlint: base.json: 1 entry removed",
    ]
    assert [entry["path"] for entry in entries(run)] == ["other.py"]
    before = (run.folder / "base.json").stat().st_mtime_ns
    run("check", "--baseline", "base.json", "--prune-baseline")
    assert (run.folder / "base.json").stat().st_mtime_ns == before


def test_entries_of_deleted_files_are_fixed(run: Run) -> None:
    run.write("train.py", FAULTY)
    run.write("other.py", FAULTY)
    run("check", "--write-baseline", "base.json")
    (run.folder / "train.py").unlink()

    assert "fixed: train.py: GL101: loss = w * w\n" in run("check", "other.py", "--baseline", "base.json").stderr


@pytest.mark.parametrize("options", [["other.py"], [".", "--select", "GL2"], [".", "--ignore", "GL101"]])
def test_a_run_says_nothing_of_files_and_rules_that_it_leaves_out(run: Run, options: list[str]) -> None:
    run.write("train.py", FAULTY)
    run.write("other.py", CLEAN)
    run("check", "--write-baseline", "base.json")
    run.write("train.py", CLEAN)

    assert run("check", *options, "--baseline", "base.json", "--prune-baseline").stderr == ""
    assert len(entries(run)) == 1


def test_a_file_that_cannot_be_judged_has_fixed_nothing_and_is_never_accepted(run: Run) -> None:
    run.write("train.py", FAULTY)
    run("check", "--write-baseline", "base.json")
    run.write("train.py", BROKEN)

    outcome = run("check", "--baseline", "base.json", "--output", "json")
    rewritten = run("check", "--write-baseline", "base.json", "--output", "json")

    assert (outcome.exit_code, codes(outcome.stdout), outcome.stderr) == (1, ["GL001"], "")
    assert (rewritten.exit_code, codes(rewritten.stdout)) == (0, ["GL001"])
    assert [entry["rule"] for entry in entries(run)] == ["GL101"]


def test_writing_again_replaces_what_was_judged_and_keeps_the_rest(run: Run) -> None:
    run.write("train.py", FAULTY)
    run.write("other.py", FAULTY)
    run("check", "--write-baseline", "base.json")
    run.write("train.py", FAULTY.replace("w * w", "w + w"))

    run("check", "train.py", "--write-baseline", "base.json")

    assert [(entry["path"], entry["line"]) for entry in entries(run)] == [
        ("other.py", "loss = w * w"),
        ("train.py", "loss = w + w"),
    ]


def test_a_run_that_failed_writes_no_baseline(run: Run) -> None:
    run.write("train.py", FAULTY)

    outcome = run("check", "train.py", "nowhere.py", "--write-baseline", "base.json")

    assert outcome.exit_code == 2
    assert outcome.stderr == (
        "gradlint: nowhere.py: no such file\ngradlint: base.json: not written, because the run failed\n"
    )
    assert not (run.folder / "base.json").exists()


def test_a_baseline_serves_wherever_the_project_and_the_working_folder_are(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.write("here/src/train.py", FAULTY)
    run.write("here/pyproject.toml", "[tool.gradlint]\n")
    run.write("here/src/pyproject.toml", "[tool.gradlint]\n")
    run("check", "here", "--write-baseline", "here/ci/../base.json".replace("ci/../", ""))
    os.rename(run.folder / "here", run.folder / "there")

    assert codes(run("check", "there", "--baseline", "there/base.json", "--output", "json").stdout) == []
    monkeypatch.chdir(run.folder / "there" / "src")
    assert codes(run("check", "train.py", "--baseline", "../base.json", "--output", "json").stdout) == []
    absolute = str(run.folder / "there" / "src" / "train.py")
    assert codes(run("check", absolute, "--baseline", "../base.json", "--output", "json").stdout) == []


def test_a_checkout_behind_a_link_is_the_same(run: Run) -> None:
    run.write("real/train.py", FAULTY)
    run("check", "real", "--write-baseline", "real/base.json")
    (run.folder / "link").symlink_to("real")

    assert run("check", "link/train.py", "--baseline", "link/base.json", "--output", "json").stdout == "[]\n"
    assert run("check", "real/train.py", "--baseline", "link/base.json", "--output", "json").stdout == "[]\n"


def test_standard_input_is_accepted_under_its_name(run: Run) -> None:
    run.write("train.py", FAULTY)
    run("check", "--write-baseline", "base.json")

    outcome = run("check", "-", "--stdin-filename", "train.py", "--baseline", "base.json", stdin=FAULTY.encode())

    assert outcome.exit_code == 0


def test_a_cause_that_is_accepted_is_accepted_where_a_part_of_the_project_shows_it(run: Run) -> None:
    run.write("library.py", LIBRARY)
    run.write("train.py", CALLER.format(module="library"))
    run("check", "--write-baseline", "base.json")
    (entry,) = entries(run)
    assert (entry["path"], entry["scope"], entry["through"]) == ("library.py", "loss_of", ["train.py"])

    assert codes(run("check", "train.py", "--output", "json").stdout) == ["GL202"]
    assert run("check", "train.py", "--baseline", "base.json", "--output", "json").stdout == "[]\n"


def test_what_was_found_through_another_file_is_fixed_when_that_one_is_judged(run: Run) -> None:
    for number in range(30):  # too many for the programs around them to be looked at
        run.write(f"part/m{number:02}.py", CLEAN)
    run.write("part/library.py", LIBRARY)
    run.write("train.py", CALLER.format(module="part.library"))
    run("check", "--write-baseline", "base.json")
    assert [(entry["path"], entry["through"]) for entry in entries(run)] == [("part/library.py", ["train.py"])]

    assert run("check", "part", "--baseline", "base.json").stderr == ""
    run.write("train.py", CLEAN)
    assert "fixed: part/library.py: GL202 in loss_of" in run("check", ".", "--baseline", "base.json").stderr


def notebook(*cells: str) -> str:
    return json.dumps(
        {
            "cells": [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def test_a_finding_in_a_notebook_stays_when_cells_are_put_before_it(run: Run) -> None:
    first, second = FAULTY.split("loss", 1)
    run.write("nb.ipynb", notebook(first, f"loss{second}"))
    run("check", "--write-baseline", "base.json")
    run.write("nb.ipynb", notebook("x = 1", first, "y = 2", f"# more\nloss{second}"))

    outcome = accepted(run)

    assert (outcome.exit_code, outcome.stdout) == (0, "[]\n")


def test_names_that_are_no_ascii_are_readable_in_the_file(run: Run) -> None:
    run.write("損失.py", re.sub(r"\bw\b", "重み", FAULTY))

    run("check", "--write-baseline", "base.json")

    assert '"path": "損失.py", "rule": "GL101", "scope": "", "line": "loss = 重み * 重み"' in (
        run.folder / "base.json"
    ).read_text(encoding="utf-8")
    assert accepted(run).exit_code == 0


def test_a_file_name_that_is_not_utf_8_is_accepted_too(run: Run) -> None:
    try:
        run.write("\udcff.py", FAULTY)
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")

    run("check", "--write-baseline", "base.json")

    assert accepted(run).exit_code == 0


def header(**changes: object) -> str:
    return json.dumps({"version": 1, "tool": "gradlint", "findings": [], **changes})


ENTRY = {"path": "a.py", "rule": "GL101", "scope": "", "line": "x", "index": 0}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (header(version=2), "version 2; this gradlint reads version 1"),
        (header(version="1"), 'version "1"; this gradlint reads version 1'),
        (header(version=True), "version true; this gradlint reads version 1"),
        (header(tool="other"), "not a baseline of gradlint"),
        ('{"tool": "eslint"}', "not a baseline of gradlint"),
        ("[]", "not a baseline of gradlint"),
        ("{}", "not a baseline of gradlint"),
        (header(findings={}), '"findings" must be a list'),
        (header(findings=["x"]), 'entry 1: expected an object, got "x"'),
        (header(findings=[ENTRY, {**ENTRY, "index": "0"}]), 'entry 2: "index": expected a number, got "0"'),
        (header(findings=[{**ENTRY, "index": -1}]), 'entry 1: "index": expected 0 or more, got -1'),
        (header(findings=[{"path": "a.py"}]), 'entry 1: "rule": expected a string, it is missing'),
        (header(findings=[{**ENTRY, "through": "a"}]), 'entry 1: "through": expected a list of strings'),
        (b"\xff\xfe", "not UTF-8"),
        ("[" * 100_000, "not JSON: "),
    ],
)
def test_a_file_that_is_no_baseline_ends_the_run_in_one_line(run: Run, content: str | bytes, complaint: str) -> None:
    run.write("train.py", FAULTY)
    data = run.write("base.json", content).read_bytes()

    for option in ("--baseline", "--write-baseline"):
        outcome = run("check", option, "base.json", "nowhere.py")
        assert (outcome.exit_code, outcome.stdout) == (2, "")
        assert outcome.stderr.startswith(f"gradlint: {option}: base.json: {complaint}")
        assert outcome.stderr.count("\n") == 1
    assert (run.folder / "base.json").read_bytes() == data


def test_broken_json_is_told_with_its_line(run: Run) -> None:
    run.write("base.json", '{\n  "version": 1,\n<<<<<<< ours\n}\n')

    assert run("check", "--baseline", "base.json") == Outcome(
        2, "", "gradlint: --baseline: base.json:3: not JSON: expecting property name enclosed in double quotes\n"
    )


def test_writing_does_not_replace_what_is_no_baseline(run: Run) -> None:
    run.write("train.py", FAULTY)

    outcome = run("check", "--write-baseline", "train.py")

    assert outcome == Outcome(
        2,
        "",
        "gradlint: --write-baseline: train.py:1: not JSON: expecting value; remove the file to write a new one\n",
    )
    assert (run.folder / "train.py").read_text() == FAULTY


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--baseline", "none.json"], "--baseline: none.json: no such file"),
        (["--baseline", "folder"], "--baseline: folder: is a folder"),
        (["--write-baseline", "folder"], "--write-baseline: folder: is a folder"),
        (["--write-baseline", "no/such/x"], "--write-baseline: no/such/x: its folder does not exist"),
        (["--baseline", ""], "--baseline: names no file"),
        (["--write-baseline", ""], "--write-baseline: names no file"),
        (["--write-baseline", "-"], "--write-baseline: -: a baseline has to be a file"),
        (["--write-baseline", "new/"], "--write-baseline: new/: names a folder"),
        (["--baseline", "x", "--baseline", "y"], "--baseline: more than one file"),
        (["--prune-baseline"], "--prune-baseline: needs --baseline FILE"),
        (["--baseline", "x", "--write-baseline", "x"], "--write-baseline: not together with --baseline"),
    ],
)
def test_options_that_cannot_be_end_the_run_before_it_judges(run: Run, options: list[str], complaint: str) -> None:
    (run.folder / "folder").mkdir()

    outcome = run("check", "nowhere.py", *options)

    assert outcome == Outcome(2, "", f"gradlint: {complaint}\n")


def test_every_format_leaves_out_what_is_accepted(run: Run) -> None:
    run.write("train.py", FAULTY)
    run("check", "--write-baseline", "base.json")

    for output_format in ("sarif", "github", "gitlab", "junit", "pylint", "grouped", "markdown", "json-lines"):
        outcome = run("check", "--baseline", "base.json", "--output", output_format)
        assert "GL101" not in outcome.stdout
        assert "1 finding in the baseline is not shown" in outcome.stdout + outcome.stderr
    assert run("check", "--baseline", "base.json", "--statistics").stdout.startswith("No new findings.")


def test_what_is_found_through_others_is_not_fixed_while_a_part_is_judged(run: Run) -> None:
    run.write("core/library.py", LIBRARY)
    for number in range(24):  # more than are named in a trace, and too many for others to be looked at
        run.write(f"core/a{number:02}.py", CALLER.format(module="core.library"))
    run.write("apps/a.py", CALLER.format(module="core.library"))
    run.write("apps/b.py", "from apps import a\n")
    run("check", "--write-baseline", "base.json")
    for number in range(24):
        run.write(f"core/a{number:02}.py", CLEAN)
    run.write("legacy/build/old.py", "import core.library\n")

    for folder in ("core", "apps"):
        assert run("check", folder, "--baseline", "base.json", "--prune-baseline").stderr == ""
    assert accepted(run).stdout == "[]\n"
    run.write("apps/a.py", CLEAN)
    assert "fixed: core/library.py: GL202 in loss_of" in run("check", ".", "--baseline", "base.json").stderr


def test_what_a_caller_that_is_newer_than_the_entry_shows_is_not_fixed(run: Run) -> None:
    run.write("core/library.py", LIBRARY)
    for number in range(24):
        run.write(f"core/a{number:02}.py", CLEAN)
    run.write("core/train.py", CALLER.format(module="core.library"))
    run("check", "--write-baseline", "base.json")
    run.write("core/train.py", CLEAN)
    run.write("new.py", CALLER.format(module="core.library"))

    assert run("check", "core", "--baseline", "base.json").stderr == ""
    assert accepted(run).stdout == "[]\n"


def test_files_in_a_folder_that_cannot_be_read_are_not_fixed(run: Run) -> None:
    run.write("locked/train.py", FAULTY)
    run("check", "--write-baseline", "base.json")
    (run.folder / "locked").chmod(0)
    try:
        if os.access(run.folder / "locked", os.R_OK):
            pytest.skip("root may read everywhere")
        outcome = accepted(run)
    finally:
        (run.folder / "locked").chmod(0o700)

    assert (codes(outcome.stdout), outcome.stderr) == (["GL002"], "")


IN_DOCSTRING = f'''\
import tensorflow as tf


def function():
    """
    ```python
{"".join(f"    {line}" for line in FAULTY.splitlines(keepends=True))}    ```
    """
'''


def test_a_run_that_leaves_docstrings_out_says_nothing_of_them(run: Run) -> None:
    run.write("train.py", IN_DOCSTRING)
    run("check", "--include-docs", "--write-baseline", "base.json")
    assert [(entry["scope"], entry["line"]) for entry in entries(run)] == [("<docstring>", "loss = w * w")]

    assert run("check", "--baseline", "base.json", "--prune-baseline").stderr == ""
    run.write("train.py", "import tensorflow as tf\n")
    stderr = run("check", "--include-docs", "--baseline", "base.json").stderr
    assert "fixed: train.py: GL101 in <docstring>: loss = w * w" in stderr


def test_entries_of_rules_that_do_not_exist_are_named_and_pruned(run: Run) -> None:
    run.write("train.py", CLEAN)
    run.write("base.json", header(findings=[{**ENTRY, "path": "train.py", "rule": "GL999"}]))

    assert run("check", "--baseline", "base.json").stderr.splitlines() == [
        "gradlint: base.json: no such rule: train.py: GL999: x",
        "gradlint: base.json: 1 entry no longer found; --prune-baseline removes what is fixed",
    ]
    run("check", "--baseline", "base.json", "--prune-baseline")
    assert entries(run) == []


def test_of_many_fixed_entries_some_are_named(run: Run) -> None:
    run.write("train.py", CLEAN)
    found = [{**ENTRY, "path": "train.py", "index": number} for number in range(1000)]
    run.write("base.json", header(findings=found))

    lines = run("check", "--baseline", "base.json").stderr.splitlines()

    assert lines[20:] == [
        "gradlint: base.json: ... and 980 more",
        "gradlint: base.json: 1000 entries no longer found; --prune-baseline removes what is fixed",
    ]


def test_standard_input_without_a_name_cannot_be_accepted(run: Run) -> None:
    outcome = run("check", "-", "--write-baseline", "base.json", stdin=FAULTY.encode())

    assert outcome == Outcome(
        2, "", "gradlint: --write-baseline: standard input needs a name to be accepted; give it --stdin-filename\n"
    )
    assert not (run.folder / "base.json").exists()


def test_characters_that_mislead_are_escaped_in_the_file(run: Run) -> None:
    run.write("train.py", FAULTY.replace("w * w", "tf.add(w, w, name='\u202e\x7f')"))

    run("check", "--write-baseline", "base.json")

    assert "name='\\u202e\\u007f'" in (run.folder / "base.json").read_text(encoding="utf-8")
    assert accepted(run).stdout == "[]\n"


COMMENTS = """\
import tensorflow as tf


def first():
    a = 1  # gradlint: ignore[GL202] -- it's rounded  # noqa: E501
    # gradlint: nonsense
    return a
"""


def test_findings_about_comments_are_known_by_their_scope_and_their_comment(run: Run) -> None:
    run.write("train.py", COMMENTS)
    run("check", "--write-baseline", "base.json")
    assert [(entry["rule"], entry["scope"], entry["line"]) for entry in entries(run)] == [
        ("GL003", "first", "# gradlint: ignore[GL202] -- it's rounded"),
        ("GL004", "first", "# gradlint: nonsense"),
    ]

    run.write("train.py", COMMENTS.replace("    a = 1  ", "    # above\n    a = 2  ").replace("  # noqa: E501", ""))
    assert accepted(run).stdout == "[]\n"

    run.write("train.py", "import tensorflow as tf\nx = 1  # gradlint: ignore[GL301]\n# gradlint: oops\n")
    outcome = accepted(run)
    assert (outcome.exit_code, codes(outcome.stdout)) == (1, ["GL003", "GL004"])
    assert outcome.stderr.splitlines()[:2] == [
        "gradlint: base.json: fixed: train.py: GL003 in first: # gradlint: ignore[GL202] -- it's rounded",
        "gradlint: base.json: fixed: train.py: GL004 in first: # gradlint: nonsense",
    ]


def test_an_unused_comment_is_not_fixed_where_files_that_may_need_it_are_left_out(run: Run) -> None:
    run.write("model.py", "import tensorflow as tf\nx = 1  # gradlint: ignore[GL202]\n")
    run.write("train.py", "import model\n")
    run("check", "--write-baseline", "base.json")

    part = run("check", "model.py", "--baseline", "base.json", "--prune-baseline")

    assert (part.exit_code, part.stderr) == (0, "")
    assert run("check", "--baseline", "base.json").exit_code == 0
    run.write("model.py", "import tensorflow as tf\nx = 1\n")
    assert (
        "fixed: model.py: GL003: # gradlint: ignore[GL202]"
        in run("check", "model.py", "--baseline", "base.json").stderr
    )


@given(st.text())
def test_a_line_that_was_read_from_a_baseline_is_compared_as_when_it_was_written(line: str) -> None:
    once = normalised(line)

    assert normalised(once) == once
    assert without_blanks(without_blanks(once)) == without_blanks(once)


TOKENS = st.sampled_from(["x", "=", "1", "(", ")", "'a  b'", '"#"', "+", "def", "é"])
BLANKS = st.sampled_from([" ", "  ", "\t"])


@given(st.lists(st.tuples(TOKENS, BLANKS, BLANKS), max_size=8))
def test_blanks_between_tokens_and_comments_count_for_nothing(tokens: list[tuple[str, str, str]]) -> None:
    one = "".join(token + blank for token, blank, _ in tokens)
    other = "".join(token + blank for token, _, blank in tokens)

    assert without_blanks(normalised(one)) == without_blanks(normalised(f"{other}# why"))


def test_a_fingerprint_is_public_and_comparable() -> None:
    (finding,) = check(FAULTY)

    assert isinstance(finding, Finding)
    assert finding.fingerprint is not None
    assert (finding.fingerprint.code, finding.fingerprint.scope, finding.fingerprint.line) == (
        "GL101",
        "",
        "loss = w * w",
    )
    assert Path(finding.fingerprint.path) == Path("program.py")
