"""Notebooks: the code cells of an `.ipynb` file as one module, in order (nbformat 3 and 4).

What IPython adds to Python is taken out before parsing, as IPython would run it: lines for the shell and most magics
do nothing here, `%time x = f()` runs its statement, a cell for another language is left out. Rows and columns stay.
Outputs are never looked at.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, replace
from typing import Any

from gradlint.files.input_file import Cell, InputFile, UnreadableText
from gradlint.process_wide import without_warnings
from gradlint.rule import Place

#: Magics whose argument is a statement that runs in the notebook, names bound there included.
_RUN_STATEMENT = frozenset({"time", "prun"})
#: Cell magics whose cell is Python that runs in the notebook.
_RUN_CELL = frozenset({"time", "timeit", "capture", "prun", "wandb"})
_MAGIC = re.compile(r"(?P<indent>\s*)(?P<sign>%{1,2}[ \t]*)(?P<name>\w+)(?P<gap>[ \t]*)(?P<rest>.*)")
_ASSIGNED = re.compile(r"(?P<left>\s*[^=!%#]+?=\s*)(?:!|%(?P<magic>\w+)[ \t]*)(?P<rest>.*)")
_COMPOUND = ("for ", "while ", "with ", "if ", "try:", "def ", "class ", "async ")
#: Commands that IPython takes without a sign before them.
_AUTOMAGIC = re.compile(r"\s*(?:ls|ll|cd|pwd|cat|cp|mv|rm|rmdir|mkdir|man|more|less|head|tail|pip|conda|clear|env)\b")
_SETTING = re.compile(r"(?P<name>\w+)(?:\s*=\s*|\s+)(?P<value>[^\s${}'\"\\]+)\s*$")
_HELP = re.compile(r"\s*\?|.*\?\s*;?\s*(?:#.*)?$")


@dataclass(frozen=True, slots=True)
class Notebook:
    """The code of a notebook, and the cells that are left out because they are no Python."""

    file: InputFile
    broken: tuple[tuple[int, SyntaxError], ...] = ()


def read_notebook(data: bytes, filename: str) -> Notebook | None:
    """The code of a notebook; None when it is written in another language than Python.

    Raises:
        UnreadableText: the bytes are no notebook.
    """
    content = _content(data)
    if not _language(content).startswith(("python", "ipython", "pyspark", "xpython")) and _language(content):
        return None
    cells: list[Cell] = []
    broken: list[tuple[int, SyntaxError]] = []
    indents: list[tuple[int, int]] = []
    row = 1
    for number, source in _code_cells(content):
        try:
            text = python_of(source)
        except SyntaxError as error:
            broken.append((number, error))
            text = "\n" * source.count("\n")
        cells.append(Cell(number, row, source, text))
        indents += _indents(source, text, row)
        row += text.count("\n") + 1
    text = "".join(f"{cell.text}\n" for cell in cells)
    return Notebook(InputFile(filename, text, tuple(cells), indents=tuple(indents)), tuple(broken))


def _indents(source: str, text: str, first_row: int) -> list[tuple[int, int]]:
    """The rows of a cell from which indentation was taken away, and how much."""
    pairs = zip(source.split("\n"), text.split("\n"), strict=True)
    rows = ((row, written, read) for row, (written, read) in enumerate(pairs, first_row) if written.endswith(read))
    return [(row, len(written) - len(read)) for row, written, read in rows if read and len(written) > len(read)]


def _content(data: bytes) -> dict[str, Any]:
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableText("not a notebook: not UTF-8", _start_of(data, error.start)) from error
    except json.JSONDecodeError as error:
        place = Place(error.lineno, error.colno, error.lineno, error.colno + 1)
        raise UnreadableText(f"not a notebook: {error.msg[:1].lower()}{error.msg[1:]}", place) from error
    except ValueError as error:  # a number of more digits than Python reads
        raise UnreadableText(f"not a notebook: {error}", Place(1, 1, 1, 2)) from error
    except RecursionError as error:
        raise UnreadableText("not a notebook: nested too deeply", Place(1, 1, 1, 2)) from error
    if not isinstance(content, dict) or not any(isinstance(content.get(key), list) for key in ("cells", "worksheets")):
        raise UnreadableText("not a notebook: it has no list of cells", Place(1, 1, 1, 2))
    return content


def _start_of(data: bytes, at: int) -> Place:
    row = data.count(b"\n", 0, at) + 1
    return Place(row, 1, row, 2)


def _language(content: dict[str, Any]) -> str:
    metadata = content.get("metadata")
    for name, key in (("language_info", "name"), ("kernelspec", "language")):
        told = metadata.get(name) if isinstance(metadata, dict) else None
        if isinstance(told, dict) and isinstance(told.get(key), str):
            return str(told[key]).lower()
    return ""


def _code_cells(content: dict[str, Any]) -> list[tuple[int, str]]:
    """The code cells with their numbers among all cells, from 1."""
    cells = content.get("cells")
    if not isinstance(cells, list):
        sheets = [each.get("cells") for each in content["worksheets"] if isinstance(each, dict)]
        cells = [cell for each in sheets if isinstance(each, list) for cell in each]
    found: list[tuple[int, str]] = []
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        found.append((number, text.replace("\r\n", "\n").replace("\r", "\n")))
    return found


def script_of(file: InputFile) -> InputFile:
    """The file, or a script of `# %%` cells without what IPython adds to Python; a broken one as it is."""
    if "# %%" not in file.text or _error_in(file.text) is None:
        return file
    try:
        return replace(file, text=python_of(file.text), written=file.text)
    except SyntaxError:
        return file


def python_of(source: str) -> str:
    """The Python of one cell, with as many rows; of a cell for another language, empty rows.

    Raises:
        SyntaxError: what is left is no Python.
    """
    lines = source.split("\n")
    # Colab puts the form of a cell above its magic: `#@title`.
    first = next(
        (index for index, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), None
    )
    if first is None:
        return source
    if lines[first].startswith("%%"):
        if lines[first][2:].split(maxsplit=1)[:1] and lines[first][2:].split(maxsplit=1)[0] in _RUN_CELL:
            lines[first] = ""
        else:
            return "\n" * (len(lines) - 1)
    begin = next((line for line in lines if line.strip()), "")
    indent = begin[: len(begin) - len(begin.lstrip())]
    lines = [line.removeprefix(indent) for line in lines]  # as IPython does
    for _ in range(len(lines) + 1):
        error = _error_in("\n".join(lines))
        if error is None:
            return "\n".join(lines)
        if not _take_out(lines, (error.lineno or 1) - 1):
            raise error
    return "\n".join(lines)


def _error_in(text: str) -> SyntaxError | None:
    try:
        with without_warnings:
            ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or "too deeply nested")
    return None


def _left_of(magic: re.Match[str]) -> str:
    """The Python that stands for a magic that runs none: what it sets in the environment, where it does."""
    setting = _SETTING.match(magic["rest"]) if magic["name"] in ("env", "set_env") else None
    return "pass" if setting is None else repr({setting["name"]: setting["value"]})


def _take_out(lines: list[str], at: int) -> bool:
    """Replace the line at which Python stops, if it is IPython's."""
    if not 0 <= at < len(lines):
        return False
    line = lines[at]
    indent = line[: len(line) - len(line.lstrip())]
    magic = _MAGIC.match(line)
    if magic is not None:
        prefix = len(magic["sign"] + magic["name"] + magic["gap"])
        runs = magic["name"] in _RUN_STATEMENT and magic["rest"] and not magic["rest"].startswith(("-", "#", "?"))
        # As long as what it replaces: columns stay.
        lines[at] = f"{indent}if{' ' * (prefix - 4)}1:{magic['rest']}" if runs else f"{indent}{_left_of(magic)}"
        if runs and magic["rest"].startswith(_COMPOUND):
            lines[at] = indent + magic["rest"]
        if runs:
            return True
    elif line.lstrip().startswith("!") or _AUTOMAGIC.match(line) or _HELP.match(line):
        lines[at] = f"{indent}pass"
    elif (assigned := _ASSIGNED.match(line)) is not None:
        computes = assigned["magic"] in _RUN_STATEMENT
        lines[at] = assigned["left"] + (assigned["rest"] if computes else "get_ipython()")
    else:
        return False
    while line.rstrip().endswith("\\") and at + 1 < len(lines):  # a command for the shell goes on
        at += 1
        line, lines[at] = lines[at], ""
    return True
