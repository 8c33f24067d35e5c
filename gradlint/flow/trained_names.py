"""Trained names: the imported names through which a file can ask for a gradient, as far as two modules on.

A script may hold no word about training and run code that does. Which functions of a file are worth running as if
somebody called them depends on this, so it must not depend on which file was asked about before: what is found for a
module depends on that module, and on how many modules further the question goes.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence

from gradlint.files.modules import ModuleFinder
from gradlint.flow.code_text import says
from gradlint.flow.sources import Source, Sources

#: How many modules on a name is followed; `__init__.py` files that only hand a name on do not count.
FAR = 2
_MOST_HANDED_ON = 6
#: Programs that are judged for the sake of a few files that they lead to.
MOST_PROGRAMS = 5

#: What code that trains is written with, in one way or another.
_TRAINS = re.compile(
    r"\b(?:GradientTape|ForwardAccumulator|apply_gradients|train_on_batch)\b|\bdef\s+train_step\b"
    r"|\.\s*(?:fit|minimize)\s*\(|(?<!\bre)\.\s*compile\s*\("
)
#: What a file says that is run as a program; tests and notebooks are, by their names.
_PROGRAM = re.compile(
    r"__main__|^@\s*(?:\w+\s*\.\s*)?(?:command|group|main|callback|capture|automain)\b|\bapp\s*\.\s*run\s*\(", re.M
)


def is_program(path: str, text: str) -> bool:
    """Whether a file is run by somebody: a script or a notebook."""
    return path.endswith(".ipynb") or (not is_test(path) and says(_PROGRAM, text))


def is_test(path: str) -> bool:
    """Whether a file holds tests, by its name."""
    name = os.path.basename(path)
    return name.startswith("test_") or name.endswith("_test.py")


def _uses(node: ast.AST, names: set[str]) -> bool:
    """Whether one of the names is read anywhere in it."""
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))


def _functions_that_use(names: set[str], tree: ast.Module) -> set[str]:
    """The functions of a module that use one of these names, or a function that does."""
    waiting = [each for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    found: set[str] = set()
    while users := [each for each in waiting if _uses(each, names | found)]:
        found |= {each.name for each in users}
        waiting = [each for each in waiting if each not in users]
    return found


class TrainedNames:
    """Asks the sources of one run. Answers are kept by module and distance."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._finder: ModuleFinder = sources.finder
        self._leading: dict[tuple[str, int], bool] = {}
        self._names: dict[tuple[str, int], frozenset[str]] = {}

    def leads(self, path: str, text: str | None = None, far: int = FAR) -> bool:
        """Whether the words of a file, or of a module that it leads to, are those of code that trains."""
        known = self._leading.get((path, far))
        if known is None:
            text = self._sources.text(path) if text is None else text
            known = text is not None and (
                says(_TRAINS, text)
                or (far > 0 and any(self.leads(each, far=far - 1) for each in self._sources.imports_of(path, text)))
            )
            self._leading[path, far] = known
        return known

    def programs_around(self, paths: Sequence[str]) -> list[str]:
        """The nearest files that import these modules, directly or by way of others, and train or are programs."""
        found: list[str] = []
        seen = set(paths)
        nearest = list(paths)
        for _ in range(FAR + 1):
            importers = {each for path in nearest for each in self._sources.importers(path)} - seen
            seen |= importers
            nearest = sorted(importers)
            texts = {each: self._sources.text(each) or "" for each in nearest}
            found += [each for each in nearest if self.leads(each, far=0) or is_program(each, texts[each])]
        return found[:MOST_PROGRAMS]

    def leads_by_imports(self, path: str, text: str) -> bool:
        """Whether a module that a file imports, and not the file itself, leads to code that trains."""
        return any(self.leads(each, far=FAR - 1) for each in self._sources.imports_of(path, text))

    def runs_at_once(self, source: Source, path: str) -> bool:
        """Whether a file that is in no package calls code of the project that trains, as it is run."""
        if self._finder.parents(path) or not self.leads_by_imports(path, source.file.text):
            return False
        names = set(self.of_imports(source, path))
        if not names:
            return False
        names |= _functions_that_use(names, source.tree)
        passive = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
        return any(_uses(statement, names) for statement in source.tree.body if not isinstance(statement, passive))

    def of_imports(self, source: Source, path: str, far: int = FAR) -> list[str]:
        """The names that a file imports and through which a gradient can be asked."""
        names: list[str] = []
        for node in source.relevance.imports:
            for alias in node.names:
                if isinstance(node, ast.Import):
                    module = self._finder.module(alias.name, 0, path)
                    if module is not None and self._of(module, far):
                        names.append(alias.asname or alias.name.split(".")[0])
                    continue
                base = self._finder.module(node.module or "", node.level, path)
                if base is None:
                    continue
                if alias.name == "*":
                    names.extend(sorted(self._of(base, far)))
                elif self._trains(base, alias.name, far):
                    names.append(alias.asname or alias.name)
        return names

    def _trains(self, base: str, name: str, far: int) -> bool:
        """Whether a name of a module trains, looked up where it is defined."""
        for _ in range(_MOST_HANDED_ON):
            inner = self._finder.submodule(base, name)
            if inner is not None:
                return bool(self._of(inner, far))
            handed_on = self._handed_on(base, name) if base.endswith("__init__.py") else None
            if handed_on is None:
                return name in self._of(base, far)
            base, name = handed_on
        return False

    def _handed_on(self, path: str, name: str) -> tuple[str, str] | None:
        """Where an `__init__.py` has a name from."""
        text = self._sources.text(path)
        if text is None or name not in text:
            return None
        source = self._sources.imported(path)
        for node in source.relevance.imports if source is not None else ():
            for alias in node.names:
                if isinstance(node, ast.ImportFrom) and (alias.asname or alias.name) == name:
                    base = self._finder.module(node.module or "", node.level, path)
                    return (base, alias.name) if base is not None else None
        return None

    def _of(self, path: str, far: int) -> frozenset[str]:
        """The functions and classes of a module through which a gradient can be asked, `far` modules on."""
        known = self._names.get((path, far))
        if known is None:
            known = frozenset()
            if path.endswith(".py") and self.leads(path, far=max(far - 1, 0)):
                source = self._sources.imported(path)
                if source is not None:
                    imported = self.of_imports(source, path, far - 1) if far > 1 else ()
                    held = source.relevance.training(imported)
                    classes = {
                        node.name
                        for node in source.tree.body
                        if isinstance(node, ast.ClassDef)
                        and any(getattr(each, "name", "") in held for each in node.body)
                    }
                    known = frozenset(held | classes)
            self._names[path, far] = known
        return known
