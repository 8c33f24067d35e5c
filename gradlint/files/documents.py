"""Documents: Python in Markdown, reStructuredText and docstrings, on request.

The blocks of one page, or of one docstring, are one program, in order, as their reader would type them. Rows stay; what
is no code is blank, and so are blocks that are no Python by themselves.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gradlint.files.input_file import InputFile

SUFFIXES = (".md", ".rst")
_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})[ \t]*\{?\.?(?P<language>[\w+-]*)")
_DIRECTIVE = re.compile(r"(?P<indent>[ \t]*)\.\. (?:code-block|code|sourcecode|testcode)::[ \t]*(?P<language>[\w+-]*)")
_PYTHON = frozenset({"python", "py", "python3", "pycon", "ipython", "ipython3"})
_PROMPT = re.compile(r"(?P<indent>[ \t]*)(?:>>>|\.\.\.)(?: |$)")


def documents_of(text: str, filename: str) -> list[InputFile]:
    """The programs in a page, or in the docstrings of a module; none where there is no block of Python."""
    lines = text.split("\n")
    parts = [(0, len(lines))] if filename.endswith(SUFFIXES) else _docstrings(text)
    found = []
    for start, stop in parts:
        rows = dict(_code_rows(lines, start, stop))
        if rows:
            code = "\n".join(rows[row][0] if row in rows else "" for row in range(len(lines)))
            indents = {row + 1: indent for row, (_, indent) in rows.items()}
            found.append(InputFile(filename, code, (), text, tuple(sorted(indents.items()))))
    return found


def _docstrings(text: str) -> list[tuple[int, int]]:
    """The rows of each docstring, from 0, the last one exclusive."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                if isinstance(first.value.value, str):
                    found.append((first.lineno - 1, first.end_lineno or first.lineno))
    return sorted(found)


def _code_rows(lines: list[str], start: int, stop: int) -> Iterator[tuple[int, tuple[str, int]]]:
    """The rows of code, each with the columns that were taken off its left."""
    for block in _blocks(lines, start, stop):
        code = [text for _, text, _ in block]
        try:
            ast.parse("\n".join(code))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        yield from ((row, (text, indent)) for row, text, indent in block)


def _blocks(lines: list[str], start: int, stop: int) -> Iterator[list[tuple[int, str, int]]]:
    row = start
    while row < stop:
        fence, directive = _FENCE.match(lines[row]), _DIRECTIVE.match(lines[row])
        if fence is not None:
            end = row + 1
            while end < stop and not lines[end].strip().startswith(fence["marks"]):
                end += 1
            if fence["language"].lower() in _PYTHON:
                yield _dedented(lines, row + 1, end)
            row = end + 1
        elif directive is not None:
            end, outer = row + 1, len(directive["indent"])
            while end < stop and (not lines[end].strip() or _indent(lines[end]) > outer):
                end += 1
            first = row + 1
            while first < end and lines[first].strip().startswith(":"):
                first += 1  # options of the directive
            if directive["language"].lower() in _PYTHON | {""}:
                yield _dedented(lines, first, end)
            row = end
        elif _PROMPT.match(lines[row]):
            end = row
            while end < stop and lines[end].strip():
                end += 1
            yield _dedented(lines, row, end)
            row = end
        else:
            row += 1


def _dedented(lines: list[str], start: int, stop: int) -> list[tuple[int, str, int]]:
    """Rows without their common indentation; of a session with prompts, the rows that were typed."""
    prompts = [match for row in range(start, stop) if (match := _PROMPT.match(lines[row])) is not None]
    if prompts:
        typed = ((row, _PROMPT.match(lines[row])) for row in range(start, stop))
        return [(row, lines[row][match.end() :], match.end()) for row, match in typed if match is not None]
    indent = min((_indent(lines[row]) for row in range(start, stop) if lines[row].strip()), default=0)
    return [(row, lines[row][indent:], indent) for row in range(start, stop)]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
