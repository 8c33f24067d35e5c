"""Whatever a file holds: a clear finding, no crash, and the other files are judged."""

from __future__ import annotations

import sys
import threading

import pytest

import gradlint.engine
from gradlint.config import Settings
from gradlint.deep_stack import on_deep_stack
from gradlint.flow import FlowResult
from gradlint.flow.project import Project
from gradlint.flow.sources import Source
from gradlint.merging import check_bytes
from gradlint.rule import Finding, Place
from support import BROKEN, Run, check, codes, places, run_process

IMPORT = "import tensorflow as tf\n"


def judge(data: str | bytes) -> list[Finding]:
    raw = data.encode() if isinstance(data, str) else data
    return list(check_bytes(raw, "a.py", Settings()).findings)


def about(data: str | bytes) -> tuple[str, int, int, str]:
    """Code, row, column and message of the only finding."""
    (finding,) = judge(data)
    return finding.code, finding.place.row, finding.place.column, finding.message


READ_AS = f"(read as Python {sys.version_info.major}.{sys.version_info.minor})"


def test_a_syntax_error_has_the_words_and_the_place_of_cpython() -> None:
    assert about(IMPORT + "x = (\n") == ("GL001", 2, 5, f"'(' was never closed {READ_AS}")


def test_a_file_for_python_2_is_a_syntax_error_at_its_print() -> None:
    code, row, column, message = about(IMPORT + "if True:\n    print 'a'\n")

    assert (code, row, column) == ("GL001", 3, 5)
    assert message.startswith("Missing parentheses in call to 'print'")
    assert message.endswith(READ_AS)


def test_null_bytes_are_told_with_their_place() -> None:
    assert about(IMPORT.encode() + b"x = 1\0\n") == ("GL002", 2, 6, "null byte: this is not a text file")


def test_latin_1_without_a_coding_line_is_told_with_its_place() -> None:
    assert about(IMPORT.encode() + b"\n# caf\xe9\n") == ("GL002", 3, 6, "byte 0xe9 is not UTF-8")
    assert about(IMPORT.encode() + b"# caf\xe9\n") == ("GL002", 2, 6, "byte 0xe9 is not UTF-8")


@pytest.mark.parametrize("encoding", ["foo", "hex"])
def test_an_encoding_that_is_none_is_told(encoding: str) -> None:
    assert about(f"# coding: {encoding}\n{IMPORT}") == ("GL002", 1, 1, f"unknown encoding: {encoding}")


@pytest.mark.parametrize(
    "data",
    [
        b"# coding: latin-1\n" + IMPORT.encode() + b"# caf\xe9\n",
        b"\xef\xbb\xbf" + IMPORT.encode(),
        IMPORT.encode().replace(b"\n", b"\r\n"),
        b"",
        IMPORT.encode() + b"\x0c\nx = 1",
        IMPORT.encode() + b"x = '\\d'\n",
    ],
    ids=["latin-1", "byte order mark", "crlf", "empty", "form feed, no line end", "invalid escape"],
)
def test_unusual_but_valid_files_are_clean(data: bytes) -> None:
    assert judge(data) == []


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark_move_nothing(line_end: str, start: str) -> None:
    text = start + (IMPORT + "\n\x0c\ny = '\u2028'; x = (\n").replace("\n", line_end)

    assert about(text)[:3] == ("GL001", 4, 14)


def deep(before: str, after: str, times: int, core: str = "y") -> str:
    return f"{IMPORT}x = {before * times}{core}{after * times}\n"


@pytest.mark.parametrize("times", [1_000, 100_000])
@pytest.mark.parametrize(("before", "after"), [("(", ")"), ("[", "]"), ("f(", ")"), ("{0: ", "}")])
def test_deeply_nested_brackets_are_refused(before: str, after: str, times: int) -> None:
    (finding,) = judge(deep(before, after, times))

    assert finding.code == "GL001"
    assert "too many nested parentheses" in finding.message or "too deeply nested" in finding.message


@pytest.mark.parametrize(("before", "after"), [("-", ""), ("not ", ""), ("lambda: ", ""), ("", " ** y")])
def test_deep_trees_without_brackets_are_judged_or_refused(before: str, after: str) -> None:
    assert set(codes(judge(deep(before, after, 100_000)))) <= {"GL001"}


@pytest.mark.parametrize("after", [" + y", ".a", "()", "[0]"])
def test_long_chains_are_judged_or_refused(after: str) -> None:
    assert set(codes(judge(deep("", after, 100_000)))) <= {"GL001"}


def test_deep_input_does_not_kill_a_thread_with_a_small_stack() -> None:
    found: list[list[str]] = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(codes(judge(deep("", " + y", 100_000)))))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)

    assert len(found) == 1
    assert set(found[0]) <= {"GL001"}


def test_ninety_nested_blocks_are_judged() -> None:
    blocks = "".join(f"{' ' * depth}if x:\n" for depth in range(90))

    assert judge(f"{IMPORT}{blocks}{' ' * 90}pass\n") == []


def test_a_hundred_thousand_branches_or_lines_are_judged_or_refused() -> None:
    assert set(codes(judge(IMPORT + "if x: pass\n" + "elif y: pass\n" * 100_000))) <= {"GL001"}
    assert judge(IMPORT + "x = 1\n" * 100_000) == []


def test_the_others_are_judged_beside_a_deep_file(run: Run) -> None:
    run.write("a.py", deep("(", ")", 100_000))
    run.write("b.py", deep("", " ** y", 100_000))
    run.write("c.py", BROKEN)

    result = run("check", "--output-format", "json")

    assert result.exit_code == 1
    assert places(result)[-1] == ("c.py", 2, "GL001")


def test_recursion_limit_and_stack_size_are_put_back() -> None:
    before = sys.getrecursionlimit(), threading.stack_size()

    inside = on_deep_stack(lambda: on_deep_stack(sys.getrecursionlimit))

    assert inside > before[0]
    assert (sys.getrecursionlimit(), threading.stack_size()) == before
    assert not [thread for thread in threading.enumerate() if thread.name == "gradlint deep stack"]


def test_a_fault_of_gradlint_is_a_finding_and_the_run_goes_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def analyse_unless_bad(source: Source, settings: Settings, project: Project) -> object:
        if "bad" in source.file.text:
            raise KeyError("bad")
        return FlowResult([], [])

    monkeypatch.setattr(gradlint.engine, "analyse", analyse_unless_bad)
    run.write("a.py", IMPORT + "bad = 1\n")
    run.write("b.py", BROKEN)

    result = run("check", "--output-format", "json")

    assert places(result) == [("a.py", 1, "GL009"), ("b.py", 2, "GL001")]
    assert result.findings[0]["message"].startswith(
        "gradlint failed in the flow analysis (KeyError: 'bad' at test_bad_input.py:"
    )
    assert result.exit_code == 1


def test_endless_recursion_in_gradlint_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> object:
        return endless()

    monkeypatch.setattr(gradlint.engine, "analyse", endless)

    assert about(IMPORT)[0] == "GL001"


def test_warnings_about_the_judged_code_are_not_printed(run: Run) -> None:
    run.write("a.py", IMPORT + "x = '\\d'\nif x is 'a': pass\n")

    result = run_process("check", "a.py", folder=run.folder, PYTHONWARNINGS="always")

    assert (result.exit_code, result.stderr) == (0, "")


def test_a_text_that_is_decoded_already_is_judged_too() -> None:
    assert [finding.place for finding in check("import keras\r\nx = (\r\n")] == [Place(2, 5, 2, 6)]
