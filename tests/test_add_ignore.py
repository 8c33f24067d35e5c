"""`gradlint check --add-ignore`: every finding is silenced where it stands, and nothing else changes."""

from __future__ import annotations

import ast
import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import BROKEN, FAULTY, ROOT, Run, codes

ADD = ("check", "--add-ignore")
START = "import tensorflow as tf\nw = tf.Variable(1.0)\n"
END = "with tf.GradientTape() as tape: pass\ng = tape.gradient(loss, w)\n"


def program(loss: str) -> str:
    """A program whose `loss` is computed too early: GL101 where its value begins."""
    return f"{START}{loss}\n{END}"


def added(run: Run, loss: str, *options: str, rows: int = 1) -> str:
    """What stands in the place of the rows of the loss when the comments are written; then nothing is found."""
    run.write("a.py", program(loss))
    result = run(*ADD, "a.py", *options)
    assert (result.exit_code, result.stderr) == (0, "gradlint: added 1 suppression to 1 file\n")
    written = (run.folder / "a.py").read_text()
    assert written.startswith(START)
    assert written.endswith(END)
    check_finished(run, "a.py")
    return written[len(START) : -len(END) - 1]


def check_finished(run: Run, name: str) -> None:
    """Nothing is found any more, and nothing is left to add."""
    before = (run.folder / name).read_bytes()
    assert codes(run("check", name, "--output-format", "json").stdout) == []
    assert run(*ADD, name).stderr == "gradlint: added 0 suppressions to 0 files\n"
    assert (run.folder / name).read_bytes() == before


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("loss = w * w", "loss = w * w  # gradlint: ignore[GL101]"),
        ("loss = w * w  # type: ignore", "loss = w * w  # type: ignore  # gradlint: ignore[GL101]"),
        ("loss = w * w  # gradlint: ignore[GL001]", "loss = w * w  # gradlint: ignore[GL001, GL101]"),
        ("loss = w * w  # gradlint: ignore[GL001,] why", "loss = w * w  # gradlint: ignore[GL001,GL101] why"),
        ("loss = (\n    w\n    * w\n)", "loss = (\n    w  # gradlint: ignore[GL101]\n    * w\n)"),
        ("loss = w * \\\n    w", "# gradlint: ignore[GL101]\nloss = w * \\\n    w"),
        ("loss = w * w; s = '''\n'''", "# gradlint: ignore[GL101]\nloss = w * w; s = '''\n'''"),
        ("loss = w * w; s = f'''\n{w}\n'''", "# gradlint: ignore[GL101]\nloss = w * w; s = f'''\n{w}\n'''"),
        ("if w:\n\tloss = w * \\\n\t\tw", "if w:\n\t# gradlint: ignore[GL101]\n\tloss = w * \\\n\t\tw"),
        (
            "# gradlint: ignore[GL001]\nloss = w * \\\n    w",
            "# gradlint: ignore[GL001, GL101]\nloss = w * \\\n    w",
        ),
        ("# note\nloss = w * \\\n    w", "# note\n# gradlint: ignore[GL101]\nloss = w * \\\n    w"),
    ],
)
def test_the_comment_stands_where_it_silences_the_finding(run: Run, loss: str, expected: str) -> None:
    run.write("gradlint.toml", 'ignore = ["GL003"]\n')

    assert added(run, loss) == expected


def test_a_reason_is_written_behind_the_comment(run: Run) -> None:
    assert added(run, "loss = w * w", "--reason", " frozen on purpose ") == (
        "loss = w * w  # gradlint: ignore[GL101] -- frozen on purpose"
    )


def test_a_reason_does_not_mix_with_the_reason_of_another_comment(run: Run) -> None:
    run.write("gradlint.toml", 'ignore = ["GL003"]\n')

    assert added(run, "loss = w * w  # gradlint: ignore[GL001] -- old", "--reason", "new") == (
        "loss = w * w  # gradlint: ignore[GL001] -- old  # gradlint: ignore[GL101] -- new"
    )


def test_two_rules_on_a_line_are_one_comment(run: Run) -> None:
    run.write("a.py", "import keras\nx = 1  # gradlint: ignore[GL002, GL0O1]\n")

    result = run(*ADD)

    assert result.stderr == "gradlint: added 2 suppressions to 1 file\n"
    assert (run.folder / "a.py").read_text() == (
        "import keras\nx = 1  # gradlint: ignore[GL002, GL0O1, GL003, GL004]\n"
    )
    check_finished(run, "a.py")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# gradlint: ignore[GL002]\nx = 1\n", "# gradlint: ignore[GL002, GL003]\nx = 1\n"),
        ("x = [\n    # gradlint: off\n]\n", "x = [\n    # gradlint: off  # gradlint: ignore[GL004]\n]\n"),
        ("# gradlint: ignore[GL002]\n", "# gradlint: ignore[GL002, GL003]\n"),
    ],
)
def test_findings_about_comments_are_silenced_in_the_comment(run: Run, before: str, after: str) -> None:
    run.write("a.py", f"import keras\n{before}")

    run(*ADD)

    assert (run.folder / "a.py").read_text() == f"import keras\n{after}"
    check_finished(run, "a.py")


def test_only_the_rules_that_are_on_are_silenced(run: Run) -> None:
    run.write("a.py", FAULTY)

    assert run(*ADD, "--select", "GL2").stderr == "gradlint: added 0 suppressions to 0 files\n"
    assert (run.folder / "a.py").read_text() == FAULTY


def test_what_no_comment_can_silence_is_reported_as_ever(run: Run) -> None:
    run.write("a.py", BROKEN)
    run.write("b.py", FAULTY)

    result = run(*ADD, "--output-format", "json")

    assert codes(result.stdout) == ["GL001"]
    assert (result.exit_code, result.stderr) == (1, "gradlint: added 1 suppression to 1 file\n")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig", "shift-jis"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_encoding_byte_order_mark_and_line_ends_stay(run: Run, encoding: str, line_end: str) -> None:
    cookie = "" if "utf" in encoding else f"# coding: {encoding}\n"
    word = "é" if encoding == "latin-1" else "ア"
    loss = f"loss = w * w  # {word}\n"
    text = f"{cookie}{START}{loss}{END}m = w * \\\n    w"
    run.write("a.py", text.replace("\n", line_end).encode(encoding))

    run(*ADD)

    expected = text.replace(loss, f"{loss.strip()}  # gradlint: ignore[GL101]\n").replace("\n", line_end)
    assert (run.folder / "a.py").read_bytes() == expected.encode(encoding)
    check_finished(run, "a.py")


def test_a_reason_that_the_encoding_does_not_have_leaves_the_file_alone(run: Run) -> None:
    data = b"# coding: latin-1\n" + FAULTY.encode()
    run.write("a.py", data)
    run.write("b.py", FAULTY)

    result = run(*ADD, "--reason", "ア")

    assert result.exit_code == 2
    assert result.stderr == (
        "gradlint: a.py: its encoding iso-8859-1 has no 'ア', and was left alone\n"
        "gradlint: added 1 suppression to 1 file\n"
    )
    assert (run.folder / "a.py").read_bytes() == data


def test_permissions_and_links_stay(run: Run) -> None:
    run.write("real/a.py", FAULTY).chmod(0o755)
    (run.folder / "a.py").symlink_to("real/a.py")

    run(*ADD, "a.py")

    assert (run.folder / "a.py").is_symlink()
    assert "ignore[GL101]" in (run.folder / "real/a.py").read_text()
    assert stat.S_IMODE((run.folder / "real/a.py").stat().st_mode) == 0o755
    assert sorted(os.listdir(run.folder / "real")) == ["a.py"]


def test_a_file_with_several_names_is_written_once(run: Run) -> None:
    run.write("a/one.py", FAULTY)
    (run.folder / "a/hard.py").hardlink_to(run.folder / "a/one.py")
    (run.folder / "a/soft.py").symlink_to("one.py")
    (run.folder / "b").symlink_to("a")

    result = run(*ADD, "a", "b")

    assert (result.exit_code, result.stderr) == (0, "gradlint: added 1 suppression to 1 file\n")
    assert (run.folder / "a/one.py").samefile(run.folder / "a/hard.py")
    assert codes(run("check", "a", "b", "--output-format", "json").stdout) == []


def test_what_is_found_under_one_name_of_a_file_alone_is_silenced_too(run: Run) -> None:
    run.write("a/gradlint.toml", 'ignore = ["GL101"]\n')
    run.write("b/gradlint.toml", "")
    run.write("b/two.py", FAULTY)
    (run.folder / "a/one.py").symlink_to("../b/two.py")

    assert run(*ADD).stderr == "gradlint: added 1 suppression to 1 file\n"
    assert codes(run("check", "--output-format", "json").stdout) == []


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="root alone gives files away")
@pytest.mark.parametrize("may", [True, False])
def test_the_owner_stays(run: Run, monkeypatch: pytest.MonkeyPatch, may: bool) -> None:
    path = run.write("a.py", FAULTY)
    os.chown(path, 1000, 1001)
    path.chmod(0o2751)
    if not may:
        monkeypatch.setattr(os, "chown", refuse)

    assert run(*ADD).exit_code == 0

    found = path.stat()
    assert (found.st_uid, found.st_gid) == (1000, 1001)
    assert stat.S_IMODE(found.st_mode) in (0o2751, 0o751)  # writing into a file may take the bit away
    assert os.listdir(run.folder) == ["a.py"]
    check_finished(run, "a.py")


def refuse(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.skipif(sys.platform != "linux", reason="attributes of files are Linux's")
def test_what_is_attached_to_a_file_stays(run: Run) -> None:
    path = run.write("a.py", FAULTY)
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no attributes")

    run(*ADD)

    assert os.getxattr(path, "user.note") == b"kept"
    check_finished(run, "a.py")


def test_a_file_that_cannot_be_written_is_told_and_the_others_are_changed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = run.write("a.py", FAULTY)
    run.write("b.py", FAULTY)
    closed.chmod(0o444)
    if os.geteuid() == 0:  # root can write everything
        may = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("a.py") and may(path, mode))

    result = run(*ADD, "--output-format", "concise")

    assert result.exit_code == 2
    assert result.stderr == (
        "gradlint: a.py: cannot be written: permission denied\ngradlint: added 1 suppression to 1 file\n"
    )
    assert closed.read_text() == FAULTY
    assert "a.py:3:8: error GL101" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-"], "--add-ignore: standard input is no file that can be changed"),
        (["--reason", "two\nlines"], "--reason: must be one line of printable text"),
        (["--reason", " "], "--reason: is empty"),
        (
            ["--reason", "see #12"],
            '--reason: must hold neither "#" nor what Python reads as the encoding of a file',
        ),
        (
            ["--reason", "coding: latin-1"],
            '--reason: must hold neither "#" nor what Python reads as the encoding of a file',
        ),
    ],
)
def test_options_that_make_no_sense_end_the_run_before_anything_is_judged(
    run: Run, arguments: list[str], complaint: str
) -> None:
    run.write("a.py", FAULTY)

    result = run(*ADD, *arguments, stdin=b"")

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"gradlint: {complaint}\n")
    assert (run.folder / "a.py").read_text() == FAULTY


def test_a_reason_goes_with_adding_alone(run: Run) -> None:
    result = run("check", "--reason", "why")

    assert (result.exit_code, result.stderr) == (2, "gradlint: --reason: goes with --add-ignore alone\n")


def test_documents_and_docstrings_are_left_alone(run: Run) -> None:
    page = f"```python\n{FAULTY}```\n"
    indented = "".join(f"    {line}\n" for line in page.splitlines())
    module = f'import keras\n\ndef f():\n    """Example:\n\n{indented}    """\n'
    run.write("README.md", page)
    run.write("a.py", module)

    result = run(*ADD, "--include-docs", "--output-format", "json")

    assert codes(result.stdout) == ["GL101", "GL101"]
    assert (result.exit_code, result.stderr) == (
        1,
        "gradlint: README.md: suppressions are not written into documents\n"
        "gradlint: a.py: suppressions are not written into docstrings\n"
        "gradlint: added 0 suppressions to 0 files\n",
    )
    assert (run.folder / "README.md").read_text() == page
    assert (run.folder / "a.py").read_text() == module


# Notebooks


def notebook(*sources: str | Sequence[str], indent: int | None = 1, **more: Any) -> str:
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}]
    cells += [
        {
            "cell_type": "code",
            "execution_count": 3,
            "metadata": {"tags": ["é\u2028"]},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["source: [1.0]\n"]}],
            "source": source if isinstance(source, str) else list(source),
        }
        for source in sources
    ]
    content = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content | more, indent=indent, ensure_ascii=False) + "\n"


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


@pytest.mark.parametrize("indent", [1, 4, None])
@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("loss = w * w\n", "loss = w * w  # gradlint: ignore[GL101]\n"),
        ("loss = w * w", "loss = w * w  # gradlint: ignore[GL101]"),
        ("%time loss = w * w\n", "%time loss = w * w  # gradlint: ignore[GL101]\n"),
        ("loss = w * \\\n    w\nx = '\"é\"'", "# gradlint: ignore[GL101]\nloss = w * \\\n    w\nx = '\"é\"'"),
        ("x = 1\nloss = w * \\\n    w\n", "x = 1\n# gradlint: ignore[GL101]\nloss = w * \\\n    w\n"),
        ("%%time\n\nloss = w * \\\n    w\n", "%%time\n\n# gradlint: ignore[GL101]\nloss = w * \\\n    w\n"),
        ("loss = w * w # gradlint: ignore[GL001]", "loss = w * w # gradlint: ignore[GL001, GL101]"),
    ],
)
def test_in_a_notebook_the_source_of_the_cell_changes_and_nothing_else(
    run: Run, loss: str, expected: str, as_text: bool, indent: int | None
) -> None:
    run.write("gradlint.toml", 'ignore = ["GL003"]\n')
    form = str if as_text else lines
    run.write("a.ipynb", notebook(form(START), form(loss), form(END), indent=indent))

    result = run(*ADD)

    assert (result.exit_code, result.stderr) == (0, "gradlint: added 1 suppression to 1 file\n")
    assert (run.folder / "a.ipynb").read_text() == notebook(form(START), form(expected), form(END), indent=indent)
    check_finished(run, "a.ipynb")


def test_a_notebook_with_a_byte_order_mark_and_other_line_ends_keeps_them(run: Run) -> None:
    text = notebook(lines(START), lines("loss = w * w\r\n"), lines(END)).replace("\n", "\r\n")
    run.write("a.ipynb", b"\xef\xbb\xbf" + text.encode())

    run(*ADD)

    expected = text.replace("loss = w * w", "loss = w * w  # gradlint: ignore[GL101]")
    assert (run.folder / "a.ipynb").read_bytes() == b"\xef\xbb\xbf" + expected.encode()
    check_finished(run, "a.ipynb")


def test_comments_in_a_cell_for_something_else_do_not_stand_in_the_way(run: Run) -> None:
    bash = lines("%%bash\n# gradlint: ignore[GL101]\n# gradlint: skip-file\n# gradlint: off\n")
    run.write("a.ipynb", notebook(lines(START), bash, lines("loss = w * w"), lines(END)))

    result = run(*ADD)

    assert (result.exit_code, result.stderr) == (0, "gradlint: added 1 suppression to 1 file\n")
    expected = lines("loss = w * w  # gradlint: ignore[GL101]")
    assert (run.folder / "a.ipynb").read_text() == notebook(lines(START), bash, expected, lines(END))
    check_finished(run, "a.ipynb")


# Property

FIXTURES = sorted(
    path for path in ROOT.glob("fixtures/GL*/*") if path.suffix == ".py" and "# expect: GL" in path.read_text()
)
COMMENTS = ["", "  # type: ignore", "  # noqa: E501", "  # gradlint: ignore[GL009] -- é", "  # ア", "   "]
TAILS = ["", "; note = '''\n'''", "; note = 1 + \\\n    2", "; note = f'''\n{1}\n'''", "; note = (1,\n)"]


def varied(text: str, comment: str, tail: str) -> str:
    """A fixture with another comment on its faulty lines, and a tail where they are whole statements."""
    rows = text.split("\n")
    for place, row in enumerate(rows):
        code, mark, _ = row.partition("  # expect: GL")
        if mark:
            longer = [*rows[:place], code + tail + comment, *rows[place + 1 :]]
            rows = longer if is_python("\n".join(longer)) else [*rows[:place], code + comment, *rows[place + 1 :]]
    return "\n".join(rows)


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


@given(
    path=st.sampled_from(FIXTURES),
    comment=st.sampled_from(COMMENTS),
    tail=st.sampled_from(TAILS),
    line_end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
    as_notebook=st.booleans(),
    reason=st.sampled_from([None, "é -- known"]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_program_all_is_silent_afterwards_and_the_code_is_the_same(
    run: Run,
    path: Path,
    comment: str,
    tail: str,
    line_end: str,
    mark: str,
    as_notebook: bool,
    reason: str | None,
) -> None:
    text = varied(path.read_text(), comment, tail)
    written = mark + (notebook(lines(text)) if as_notebook else text.replace("\n", line_end))
    name = "a.ipynb" if as_notebook else "a.py"
    for old in run.folder.glob("a.*"):
        old.unlink()
    run.write(name, written)
    run.write("gradlint.toml", 'ignore = ["GL003"]\n')

    result = run(*ADD, *(["--reason", reason] if reason else []))

    assert result.exit_code == 0
    after = (run.folder / name).read_bytes().decode("utf-8")
    if as_notebook:
        content, changed = (json.loads(each.removeprefix("\ufeff")) for each in (written, after))
        before_text, after_text = ("".join(each["cells"][1].pop("source")) for each in (content, changed))
        assert content == changed
    else:
        assert after.startswith(mark)
        assert line_end == "\n" or "\n" not in after.replace("\r\n", "")
        before_text, after_text = written.removeprefix("\ufeff"), after.removeprefix("\ufeff")
    assert ast.dump(ast.parse(after_text)) == ast.dump(ast.parse(before_text))
    check_finished(run, name)
