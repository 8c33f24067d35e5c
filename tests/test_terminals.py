"""How reports look where people read them: on a terminal of its own (a pty), in a pipe, under CI."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradlint.report import REPORTS
from gradlint.report.style import Style, wants_links
from made_up import FINDING, report_of
from support import BROKEN, ROOT, run_process

LONG = f"import tensorflow as tf\nx = {'[0], ' * 60} ( \n"


def on_terminal(folder: Path, *arguments: str, **environment: str) -> str:
    """What the command line writes to a terminal, line ends as in a file."""
    main, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gradlint", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **environment},
        stdin=inner,
        stdout=inner,
        stderr=inner,
    )
    os.close(inner)
    written = b""
    while True:
        try:
            piece = os.read(main, 1 << 16)
        except OSError:  # Linux says so when nobody holds the other end any more
            break
        if not piece:
            break
        written += piece
    process.wait()
    os.close(main)
    return written.decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def test_a_terminal_gets_colours(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)

    assert "\x1b[1m\x1b[31merror GL001\x1b[0m" in on_terminal(tmp_path, "check", "--output", "concise")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"FORCE_COLOR": "0"}])
def test_a_terminal_that_wants_no_colours_gets_none(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "a.py").write_text(BROKEN)

    assert "\x1b" not in on_terminal(tmp_path, "check", **environment)


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_source_lines_fit_the_terminal(tmp_path: Path, columns: int) -> None:
    (tmp_path / "a.py").write_text(LONG)

    text = plain(on_terminal(tmp_path, "check", "a.py", COLUMNS=str(columns)))

    excerpt, marks = text.splitlines()[1:3]
    assert max(len(excerpt), len(marks)) <= columns
    assert excerpt[marks.index("^")] == "("
    assert "…" in excerpt


def test_source_lines_are_whole_in_a_pipe_and_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LONG)

    whole = f"    2 | {LONG.splitlines()[1].rstrip()}"
    assert whole in run_process("check", folder=tmp_path, COLUMNS="40").stdout.splitlines()
    on_terminal(tmp_path, "check", "--output", "full:out.txt", COLUMNS="40")
    assert whole in (tmp_path / "out.txt").read_text().splitlines()


def test_machine_formats_are_the_same_on_a_terminal_and_in_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LONG)

    for output_format in ("json", "sarif", "github", "gitlab", "junit", "pylint", "markdown", "json-lines"):
        options = ("check", "--output", output_format)
        assert on_terminal(tmp_path, *options, COLUMNS="40") == run_process(*options, folder=tmp_path).stdout


@pytest.mark.parametrize("environment", [{"CI": "true"}, {"GITHUB_ACTIONS": "true", "CI": "true"}])
def test_a_job_of_ci_gets_colours_when_it_asks_for_them(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "a.py").write_text(BROKEN)

    assert "\x1b" not in run_process("check", folder=tmp_path, **environment).stdout
    assert "\x1b[31m" in run_process("check", folder=tmp_path, FORCE_COLOR="1", **environment).stdout


class Terminal:
    """As much of a stream as is asked whether it is one."""

    closed = False

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "links"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"VTE_VERSION": "7006"}, True),
        ({"VTE_VERSION": "4205"}, False),
        ({"VTE_VERSION": "new"}, False),
        ({"WT_SESSION": "1"}, True),
        ({"TERM_PROGRAM": "iTerm.app", "CI": "true"}, False),
        ({"TERM_PROGRAM": "iTerm.app", "TERM": "dumb"}, False),
    ],
)
def test_links_are_for_terminals_that_open_them(environment: dict[str, str], links: bool) -> None:
    assert wants_links(Terminal(), environment) == links  # type: ignore[arg-type]
    assert not wants_links(None, environment)


@pytest.mark.parametrize("output_format", ["full", "concise", "grouped"])
def test_codes_link_to_the_pages_of_rules_once_there_is_a_site(
    monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    report = report_of(FINDING)
    linking = type(report)(report.results, Style(links=True))

    assert REPORTS[output_format](linking) == REPORTS[output_format](report)
    monkeypatch.setattr("gradlint.report.pages.SITE", "https://docs.example/rules/")
    link = "\x1b]8;;https://docs.example/rules/GL102/\x1b\\GL102\x1b]8;;\x1b\\"
    assert link in REPORTS[output_format](linking)
    assert "\x1b" not in REPORTS[output_format](report)
    assert '"url": "https://docs.example/rules/GL102/"' in REPORTS["json"](report)
    assert '"helpUri": "https://docs.example/rules/GL102/"' in REPORTS["sarif"](report)
