"""Sources: parsed files that one interpretation may need together, kept as long as memory allows.

Rows of different files must not be confused where nodes are compared, ordered and quoted, so each parsed file is
moved to a range of rows of its own: `row // ROWS` tells the file, `row % ROWS` the row in it.
"""

from __future__ import annotations

import ast
import os
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradlint.files.input_file import InputFile, UnreadableText, decode
from gradlint.files.modules import ModuleFinder
from gradlint.files.notebooks import read_notebook
from gradlint.flow.code_text import says
from gradlint.flow.relevance import Relevance
from gradlint.flow.spelled_loops import with_loops_alike
from gradlint.flow.spellings import made_alike
from gradlint.process_wide import without_warnings

#: More rows than any file that is followed into has.
ROWS = 10_000_000
#: Characters of source whose trees are kept. A tree takes some thirty bytes per character of its text (measured).
MOST_KEPT = 4_000_000
#: A module longer than this is opaque to those that import it: generated tables, most likely.
MOST_CHARACTERS = 400_000

_STORES = re.compile(
    r"\w\s*\[[^\]]+\]\s*=(?!=)|\.\s*(?:append|add|update|insert|setdefault|extend)\s*\(|\bsetattr\s*\("
)

#: Files of a project that are looked through for the use of something that its own file never uses.
MOST_SEARCHED = 500
MOST_CONTENTS = 20_000_000

#: A module that does more than define names when it is imported: it puts what it defines into something of others.
_REGISTERS = re.compile(
    r"^(?:@\s*[\w.]*(?:regist|add)|@\s*(?-i:[A-Z_\d]+)\b|[\w.]*regist\w*\s*\(|[A-Za-z_][\w.]*\s*\[[^\]]+\]\s*=(?!=))",
    re.M | re.I,
)


_NOTES_SUBCLASSES = re.compile(r"\bdef\s+__init_subclass__\b")
#: The bases of a class; the names of classes.
_BASES = re.compile(r"^class\s+\w+\s*\(([^)]+)\)", re.M)
_CLASSES = re.compile(r"^class\s+(\w+)", re.M)
#: The first names of decorators at the top of a module, and the names that a module binds there.
_DECORATORS = re.compile(r"^@\s*(?:\w+\s*\.\s*)?(\w+)", re.M)
_BOUND = re.compile(r"^(?:(?:def|class)\s+)?(\w+)\b(?=\s*(?:\(|:|=))", re.M)

_IMPORTS = re.compile(
    r"^[ \t]*(?:from\b[ \t]*(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]*\bimport\b[ \t]*"
    r"(?:\((?P<many>[^)]*)\)|(?P<names>[^\n]*))"
    r"|import[ \t]+(?P<modules>[^\n]*))",
    re.M,
)


@dataclass(eq=False, slots=True)
class Source:
    """One parsed file. `number` is that of its range of rows."""

    file: InputFile
    tree: ast.Module
    number: int
    memo: dict[object, Any] = field(default_factory=dict)
    """What modules that read the tree keep of it, so that it is computed once."""
    _relevance: Relevance | None = field(default=None, init=False)

    @property
    def relevance(self) -> Relevance:
        """What one walk of the tree shows; that walk moves it to its range of rows."""
        if self._relevance is None:
            self._relevance = Relevance(self.tree, self.number * ROWS)
        return self._relevance


def parse(text: str) -> ast.Module:
    """The tree of a text, its spellings made alike; raises what `ast.parse` raises."""
    with without_warnings:
        return with_loops_alike(made_alike(ast.parse(text)))


def read_plain_file(path: str, most: int) -> bytes | None:
    """The bytes of a file; None when it cannot be read, is too long, or is a pipe or a device."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > most:
            return None
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return None


class Sources:
    """The files of one run, by absolute path: read and parsed when they are needed.

    `unsaved` holds what takes the place of the contents of some files: what an editor has not written yet.
    """

    def __init__(self, finder: ModuleFinder | None = None, unsaved: Mapping[str, bytes] | None = None) -> None:
        self.finder = finder if finder is not None else ModuleFinder()
        self._unsaved = unsaved or {}
        self._kept: OrderedDict[str, Source] = OrderedDict()
        self._characters = 0
        self._registering: dict[str, bool] = {}
        self._effects: dict[str, bool] = {}
        self._storing: dict[str, bool] = {}
        self._neighbours: dict[str, list[str]] = {}
        self._contents: dict[str, bytes] = {}
        self._content_size = 0
        self._imported: dict[str, list[str]] = {}
        self._count = 0

    def parsed(self, file: InputFile) -> Source:
        """The source of a file that was read.

        Raises:
            SyntaxError, RecursionError, MemoryError, ValueError: from `ast.parse`.
        """
        path = os.path.abspath(file.filename)
        kept = self._kept.get(path)
        if kept is not None and kept.file.text == file.text:
            return kept
        self._count += 1
        source = Source(file, parse(file.text), self._count)
        self._keep(path, source)
        return source

    def imported(self, path: str) -> Source | None:
        """The source of a module of the project; None when it cannot be read, parsed, or is too long to follow."""
        kept = self._kept.get(path)
        if kept is not None:
            self._kept.move_to_end(path)
            return kept
        text = self.text(path)
        if text is None or len(text) > MOST_CHARACTERS:
            return None
        try:
            return self.parsed(InputFile(path, text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def registers(self, path: str) -> bool:
        """Whether importing the module puts what it defines into something of another module."""
        known = self._registering.get(path)
        if known is None:
            text = self.text(path) or ""
            known = (
                says(_REGISTERS, text)
                or self._has_registered_classes(path, text)
                or self._has_registering_decorators(path, text)
            )
            self._registering[path] = known
        return known

    def _has_registering_decorators(self, path: str, text: str) -> bool:
        """Whether a decorator at the top of the module is defined in one that puts things into containers."""
        names = set(_DECORATORS.findall(text))
        return bool(names) and any(
            self.stores(each) and not names.isdisjoint(_BOUND.findall(self.text(each) or ""))
            for each in self.imports_of(path, text)
        )

    def _has_registered_classes(self, path: str, text: str) -> bool:
        """Whether a class of the module has a base, in a module that it imports, which notes its subclasses."""
        bases = {word for match in _BASES.finditer(text) for word in re.findall(r"\w+", match[1])}
        return bool(bases) and any(
            self.notes_subclasses(each) and not bases.isdisjoint(_CLASSES.findall(self.text(each) or ""))
            for each in self.imports_of(path, text)
        )

    def notes_subclasses(self, path: str) -> bool:
        """Whether a class of the module runs code for each class that is derived from it."""
        return says(_NOTES_SUBCLASSES, self.text(path) or "")

    def mentions(self, attribute: str, owner: str, path: str) -> bool:
        """Whether another file that knows the module, or the class, reads this attribute of something but `self`."""
        used = re.compile(rb"(?<!\bself)\.%s\b" % re.escape(attribute).encode())
        module = re.escape(self.finder.name_of(path).rpartition(".")[2])
        knows = re.compile(rf"\b{module}\b|(?<!class )\b{re.escape(owner)}\b".encode())
        defines = f"class {owner}".encode()
        related = {*self.importers(path), *self._leads_to(path)}
        for each in self._around(path):
            if each != path:
                data = self._bytes(each)
                if used.search(data) and (each in related or (knows.search(data) and defines not in data)):
                    return True
        return False

    def _leads_to(self, path: str) -> set[str]:
        """The modules that a file imports, and those that they import."""
        first = self.imports_of(path)
        return {*first, *(each for module in first for each in self.imports_of(module))}

    def importers(self, path: str) -> list[str]:
        """The files of the project around a file that import it."""
        return [each for each in self._around(path) if each != path and path in self.imports_of(each)]

    def _around(self, path: str) -> list[str]:
        """The files of the project around a file."""
        folder = os.path.dirname(path)
        if folder not in self._neighbours:
            self._neighbours[folder] = self.finder.project_of(path, MOST_SEARCHED)
        return self._neighbours[folder]

    def _bytes(self, path: str) -> bytes:
        """What is in a file, as long as that is not too much; nothing where it is no plain file."""
        known = self._contents.get(path)
        if known is None:
            known = self._read(path, MOST_CHARACTERS) or b""
            if self._content_size < MOST_CONTENTS:
                self._contents[path] = known
                self._content_size += len(known)
        return known

    def _read(self, path: str, most: int) -> bytes | None:
        unsaved = self._unsaved.get(path)
        return read_plain_file(path, most) if unsaved is None else unsaved

    def stores(self, path: str) -> bool:
        """Whether code of the module puts anything into a container: a decorator of it may do so."""
        known = self._storing.get(path)
        if known is None:
            text = self.text(path)
            known = self._storing[path] = text is None or says(_STORES, text)
        return known

    def has_effects(self, path: str) -> bool:
        """Whether importing a module registers something: in its own file, or for a package in what it imports."""
        known = self._effects.get(path)
        if known is None:
            self._effects[path] = False  # for packages that import each other
            known = self.registers(path) or (
                os.path.basename(path) == "__init__.py" and any(map(self.has_effects, self.imports_of(path)))
            )
            self._effects[path] = known
        return known

    def imports_of(self, path: str, text: str | None = None) -> list[str]:
        """The modules of the project that a file imports, read off its lines."""
        known = self._imported.get(path)
        if known is not None:
            return known
        text = self._words(path) if text is None else text
        found: list[str | None] = []
        for match in _IMPORTS.finditer(text):
            if match["modules"] is not None:
                words = [each.split()[0] for each in match["modules"].split(",") if each.split()]
                found += [self.finder.module(each, 0, path) for each in words]
                continue
            base = self.finder.module(match["module"] or "", len(match["dots"] or ""), path)
            if base is None:
                continue
            found.append(base)
            names = re.sub(r"#[^\n]*", "", match["many"] or match["names"] or "")
            words = [each.split()[0] for each in names.split(",") if each.split()]
            found += [self.finder.submodule(base, each) for each in words]
        modules = [each for each in dict.fromkeys(found) if each is not None and each.endswith(".py") and each != path]
        self._imported[path] = modules
        return modules

    def _words(self, path: str) -> str:
        """The text, as far as it can be read: also of a file in an encoding that it does not tell."""
        text = self.text(path)
        return self._bytes(path).decode("latin-1") if text is None else text

    def text(self, path: str) -> str | None:
        """The text of a module, or of the cells of a notebook; None when it cannot be read."""
        kept = self._kept.get(path)
        if kept is not None:
            return kept.file.text
        data = self._read(path, 4 * MOST_CHARACTERS)
        try:
            if data is not None and path.endswith(".ipynb"):
                notebook = read_notebook(data, path)
                return notebook.file.text if notebook is not None else None
            return decode(data, path).text if data is not None else None
        except (ValueError, RecursionError, UnreadableText):
            return None

    def _keep(self, path: str, source: Source) -> None:
        old = self._kept.pop(path, None)
        if old is not None:
            self._characters -= len(old.file.text)
        self._kept[path] = source
        self._characters += len(source.file.text)
        while self._characters > MOST_KEPT and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._characters -= len(dropped.file.text)
