"""How a program is laid out changes no verdict: all fixtures, rewritten, have the findings that they expect.

Rows move, so a finding is known by its code and by the statement that it stands in, counted through the file.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import run_process
from test_fixtures_by_command_line import FIXTURES, PROGRAMS, expected

Rewriting = Callable[[str], str]
Marks = set[tuple[int, str]]  # (number of the statement, code)


# -- rewritings ----------------------------------------------------------------------------------------------------


def unparsed(text: str) -> str:
    """As `ast` writes it: no comments, no empty rows, each statement on one row."""
    return ast.unparse(ast.parse(text))


def without_blanks(text: str) -> str:
    """No comments, and no blanks that Python can do without."""
    code, begins = "", True
    for gap, token, in_string in _tokens(text):
        if token.type in (tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            continue
        if in_string:
            code += gap
        elif begins and token.string.strip():
            code += " " * token.start[1]
        elif _is_word(code[-1:]) and _is_word(token.string[:1]):
            code += " "
        code += token.string
        begins = token.type in (tokenize.NEWLINE, tokenize.NL)
    return code


def one_argument_per_line(text: str) -> str:
    """A line end behind each comma and each opening parenthesis inside of brackets."""
    code, depth = "", 0
    for gap, token, in_string in _tokens(text):
        code += gap + token.string
        if token.type == tokenize.OP and not in_string:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string == "(" or (token.string == "," and depth > 0):
                code += "\n"
    return code


def narrow(text: str) -> str:
    """As black lays it out in 40 columns."""
    black = pytest.importorskip("black")
    return str(black.format_str(text, mode=black.Mode(line_length=40)))


def _tokens(text: str) -> Iterator[tuple[str, tokenize.TokenInfo, bool]]:
    """The tokens, each with what stands before it, and whether it is inside of a formatted string."""
    lines, (last_row, last_column), strings = text.splitlines(keepends=True), (1, 0), 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.ENDMARKER:
            return
        row, column = token.start
        skipped = [*lines[last_row - 1 : row - 1], lines[row - 1][:column] if row <= len(lines) else ""]
        yield "".join(skipped)[last_column:], token, strings > 0
        name = tokenize.tok_name[token.type]
        strings += name.endswith("STRING_START") - name.endswith("STRING_END")
        last_row, last_column = token.end


def _is_word(text: str) -> bool:
    return text.isalnum() or text == "_"


REWRITINGS: list[Rewriting] = [unparsed, without_blanks, one_argument_per_line, narrow]


# -- the same verdicts ---------------------------------------------------------------------------------------------


def statements(text: str) -> list[ast.stmt]:
    """The statements of a program, each before those that stand in it."""
    return [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.stmt)]


def marks(text: str, found: set[tuple[int, str]]) -> Marks:
    """Rows and codes, with the number of the innermost statement in place of its row."""
    every = statements(text)
    around = {
        row: [n for n, each in enumerate(every) if each.lineno <= row <= (each.end_lineno or 0)] for row, _ in found
    }
    return {(max(around[row], default=-1), code) for row, code in found}


@pytest.mark.parametrize("rewriting", REWRITINGS)
def test_verdicts_on_all_fixtures_stay(rewriting: Rewriting, tmp_path: Path) -> None:
    written: dict[str, tuple[Path, str]] = {}
    for program in PROGRAMS:
        text = rewriting(program.read_text(encoding="utf-8"))
        name = program.relative_to(FIXTURES.parent).as_posix()
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
        written[name] = (program, text)
    outcome = run_process("check", "--output-format", "json", "fixtures", folder=tmp_path)
    assert outcome.exit_code == 1, outcome.stderr

    found: dict[str, set[tuple[int, str]]] = {}
    for finding in outcome.findings:
        found.setdefault(finding["filename"], set()).add((finding["location"]["row"], finding["code"]))
    different = {}
    for name, (program, text) in written.items():
        original = program.read_text(encoding="utf-8")
        wanted, got = marks(original, expected(program)), marks(text, found.get(name, set()))
        if wanted != got or list(map(type, statements(original))) != list(map(type, statements(text))):
            different[name] = (wanted, got)
    assert different == {}
