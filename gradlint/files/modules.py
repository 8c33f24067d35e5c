"""Module files: where the modules that a file imports lie, found by name. Nothing is ever imported.

What counts as the project's own, as Python would find it: beside the file (a script's folder is on the path), above
the topmost package that the file is in, in the folders that `src` names, in `src/` and at the root of the project
(the nearest folder with a pyproject.toml, setup.py, setup.cfg or .git), and in a folder above that holds the very
package the file is in. Packages without `__init__.py` are found where no other module has the name.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from gradlint.knowledge.symbols import is_known_library

_ROOT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_INIT = "__init__.py"
_INSTALLED = ("site-packages", "dist-packages")


class ModuleFinder:
    """Finds modules for one run: what it has seen of the file system it does not look at again.

    A module is named by the absolute path of its file; a package by its `__init__.py`, or by its folder without one.
    """

    def __init__(self, root: str = ".", src: Sequence[str] = (".",)) -> None:
        self._named = tuple(os.path.abspath(os.path.join(root, each)) for each in src)
        self._listed: dict[str, frozenset[str]] = {}
        self._roots: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._inside: dict[tuple[str, str, str], str | None] = {}

    def module(self, name: str, level: int, importer: str) -> str | None:
        """The module of the project that `from <level dots>name import` or `import name` means in a file."""
        if level:
            return self.relative(name, level, importer)
        return None if is_known_library(name) else self.absolute(name, importer)

    def absolute(self, name: str, importer: str) -> str | None:
        """The module of a dotted name, as seen from a file; None when it is not the project's own."""
        folder = os.path.dirname(importer)
        key = (folder, name)
        if key not in self._found:
            self._found[key] = self._search(name.split("."), folder)
        return self._found[key]

    def relative(self, name: str, level: int, importer: str) -> str | None:
        """The module of `from ...name import`: `level` dots, then a dotted name or nothing."""
        folder = os.path.dirname(importer)
        key = (folder, "." * level, name)
        if key not in self._inside:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            self._inside[key] = self._in_package(folder, name.split(".")) if name else self._package(folder)
        return self._inside[key]

    def submodule(self, module: str, name: str) -> str | None:
        """A module inside a package."""
        key = (module, "", name)
        if key not in self._inside:
            self._inside[key] = self._submodule(module, name)
        return self._inside[key]

    def _submodule(self, module: str, name: str) -> str | None:
        if os.path.basename(module) == _INIT:
            folder = os.path.dirname(module)
        elif not module.endswith(".py"):
            folder = module
        else:
            return None
        return self._in_package(folder, [name])

    def parents(self, module: str) -> list[str]:
        """The `__init__.py` of the packages that a module is in, outermost first: Python runs them before it."""
        found: list[str] = []
        folder = os.path.dirname(module)
        if os.path.basename(module) == _INIT:
            folder = os.path.dirname(folder)
        while _INIT in self._files(folder):
            found.append(os.path.join(folder, _INIT))
            folder = os.path.dirname(folder)
        return found[::-1]

    def name_of(self, module: str) -> str:
        """The dotted name of a module, seen from above its topmost package."""
        parts = [os.path.basename(os.path.dirname(parent)) for parent in self.parents(module)]
        if os.path.basename(module) == _INIT:
            return ".".join([*parts, os.path.basename(os.path.dirname(module))])
        return ".".join([*parts, os.path.basename(module).removesuffix(".py").removesuffix(".ipynb")])

    def names_of(self, module: str) -> list[str]:
        """The dotted names by which an import may find a module: also below folders without an `__init__.py`."""
        found = [self.name_of(module)]
        for root in self._roots_of(os.path.dirname(module)):
            inside = os.path.relpath(module, root).removesuffix(".py").removesuffix(".ipynb").split(os.sep)
            if inside[-1] == "__init__":
                inside.pop()
            if all(part.isidentifier() for part in inside):
                found.append(".".join(inside))
        return list(dict.fromkeys(each for each in found if each))

    def project_of(self, importer: str, most: int) -> list[str]:
        """Files with code around a file, its own folder and package first: those that may import it."""
        folder = os.path.dirname(importer)
        found: dict[str, None] = {}
        for root in (folder, *self._roots_of(folder)):
            for parent, folders, names in os.walk(root):
                folders[:] = sorted(each for each in folders if not each.startswith((".", "__pycache__")))
                for name in sorted(names):
                    if name.endswith((".py", ".ipynb")):
                        found.setdefault(os.path.join(parent, name))
                        if len(found) >= most:
                            return list(found)
        return list(found)

    def _files(self, folder: str) -> frozenset[str]:
        listed = self._listed.get(folder)
        if listed is None:
            try:
                listed = frozenset(os.listdir(folder))
            except OSError:
                listed = frozenset()
            self._listed[folder] = listed
        return listed

    def _package(self, folder: str) -> str | None:
        if _INIT in self._files(folder):
            return os.path.join(folder, _INIT)
        return folder if self._files(folder) else None

    def _in_package(self, folder: str, parts: Sequence[str]) -> str | None:
        for position, part in enumerate(parts):
            files = self._files(folder)
            inner = os.path.join(folder, part)
            is_last = position == len(parts) - 1
            if part in files and (not is_last or _INIT in self._files(inner)):
                folder = inner
                continue
            if f"{part}.py" in files:
                return f"{inner}.py" if is_last else None
            if part in files and any(each.endswith(".py") for each in self._files(inner)):
                folder = inner
                continue
            return None
        return self._package(folder)

    def _search(self, parts: list[str], folder: str) -> str | None:
        without_init: str | None = None
        for root in self._roots_of(folder):
            files = self._files(root)
            if os.path.basename(root) in _INSTALLED and not folder.startswith(os.path.join(root, parts[0])):
                continue  # installed beside it, and not its own
            if f"{parts[0]}.py" not in files and parts[0] not in files:
                continue
            found = self._in_package(root, parts)
            if found is None:
                continue
            if _INIT in self._files(os.path.join(root, parts[0])) or f"{parts[0]}.py" in files:
                return found
            without_init = without_init or found
        return without_init or self._around(parts, folder)

    def _around(self, parts: list[str], folder: str) -> str | None:
        """In a folder above: only the package that the importing file itself is in."""
        while os.path.dirname(folder) != folder:
            parent, name = os.path.split(folder)
            if name == parts[0]:
                return self._in_package(parent, parts)
            if any(mark in self._files(folder) for mark in _ROOT_MARKS):
                return None
            folder = parent
        return None

    def _roots_of(self, folder: str) -> tuple[str, ...]:
        roots = self._roots.get(folder)
        if roots is None:
            top = folder
            while _INIT in self._files(top) and os.path.dirname(top) != top:
                top = os.path.dirname(top)
            project = top
            while not any(mark in self._files(project) for mark in _ROOT_MARKS):
                parent = os.path.dirname(project)
                if parent == project:
                    project = top
                    break
                project = parent
            every = [top, *self._named, os.path.join(project, "src"), project, folder]
            every += [os.path.join(each, "src") for each in self._named]
            roots = self._roots[folder] = tuple(dict.fromkeys(every))
        return roots
