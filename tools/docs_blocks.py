"""The fenced blocks of the documentation: what each is for, and the files that a page puts beside its programs.

A comment above a block says what is special about it, several things with semicolons:

    <!-- file: train.py -->         later blocks of the page find it under this name
    <!-- raises: ValueError -->     the program, or the last of its statements, ends in this exception
    <!-- continues -->              goes on in the namespace of the Python block before it; a transcript: in the folder
                                    that the commands of the transcript before it leave
    <!-- fragment -->               no whole program: it is only parsed
    <!-- from: demo/train.py -->    stands word for word in that file of the project
    <!-- fails -->                  the tests in it fail
    <!-- finds: GL101 -->           what gradlint finds, where no comment on a line names it
    <!-- output of: gradlint ... --> a transcript from the root of the project, not from the folder of the page

`tests/test_docs_code_blocks.py` holds every block to that; `tools/generate_docs.py` writes transcripts anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
RULE_PAGES = ROOT / "docs" / "rules"
LANGUAGES = ("python", "console", "bash", "toml", "yaml", "json", "text")
DIRECTIVES = ("file", "raises", "continues", "fragment", "from", "fails", "finds", "output of")

_COMMENT = re.compile(r"<!--(.*?)-->", re.S)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `row` and `end` are the lines of its fences, from 1."""

    page: Path
    row: int
    end: int
    language: str
    text: str
    directives: tuple[tuple[str, str], ...]

    @property
    def place(self) -> str:
        """For messages: the page and the line."""
        return f"{self.page.relative_to(ROOT)}:{self.row}"

    def directive(self, name: str) -> str | None:
        """What the comment above says under this name; "" when it is there without a value."""
        return next((value for key, value in self.directives if key == name), None)

    @property
    def is_fragment(self) -> bool:
        """Is it no whole program? Rule pages show extracts alone."""
        marked = self.directive("fragment") is not None or self.directive("from") is not None
        return marked or self.page.parent == RULE_PAGES


@dataclass(frozen=True, slots=True)
class Program:
    """One Python block with those that it continues, as one text."""

    block: Block
    text: str

    @property
    def name(self) -> str:
        """The file that it is run as."""
        return self.block.directive("file") or "program.py"


def pages() -> list[Path]:
    """README and every page of the site."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    found = []
    for place, token in enumerate(tokens):
        if token.type == "fence" and token.map is not None:
            language = token.info.split()[0] if token.info.split() else ""
            start, end = token.map
            found.append(Block(page, start + 1, end, language, token.content, _directives(tokens[:place])))
    return found


def all_blocks() -> list[Block]:
    """Of all pages."""
    return [block for page in pages() for block in blocks_of(page)]


def _directives(before: Sequence[Token]) -> tuple[tuple[str, str], ...]:
    """What the comments directly above the block say; a comment without a known word is none of them."""
    found: list[tuple[str, str]] = []
    for token in reversed(before):
        if token.type != "html_block":
            break
        for comment in _COMMENT.findall(token.content):
            parts = [part.strip().partition(":") for part in comment.split(";")]
            if parts[0][0].strip() in DIRECTIVES:
                found.extend((name.strip(), value.strip()) for name, _, value in parts)
    return tuple(found)


def programs() -> Iterator[Program]:
    """The whole programs of all pages. A block that another one continues is run with it, and not alone."""
    for page in pages():
        waiting: Program | None = None
        for block in blocks_of(page):
            if block.language != "python" or block.is_fragment:
                continue
            if block.directive("continues") is None:
                if waiting is not None:
                    yield waiting
                waiting = Program(block, block.text)
            else:
                if waiting is None:
                    raise ValueError(f"{block.place}: continues nothing")
                waiting = Program(block, f"{waiting.text}\n{block.text}")
        if waiting is not None:
            yield waiting


def write_files(block: Block, folder: Path) -> None:
    """Write what the page has named as files above this block, as it stands there."""
    for other in blocks_of(block.page):
        name = other.directive("file")
        if name is not None and other.row < block.row:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(other.text, encoding="utf-8")
