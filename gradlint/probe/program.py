"""Runs a program as `python` would, under a watch: its arguments, output, exceptions and exit status are its own."""

from __future__ import annotations

import builtins
import importlib
import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from gradlint.probe.account import Account
from gradlint.probe.sightings import Sightings
from gradlint.probe.watch import Watch


@dataclass(slots=True)
class ProgramRun:
    """What a program did."""

    account: Account
    sightings: Sightings
    status: int = 0
    error: BaseException | None = None
    files: frozenset[str] = field(default_factory=frozenset)
    """The user's files that were run."""


def run_program(
    target: str, arguments: Sequence[str], *, is_module: bool, sightings: Sightings, locate_in_graphs: bool = True
) -> ProgramRun:
    """Run a script, a module (`is_module`) or `package.module:function` to its end.

    The exception that ends it, SystemExit included, is in the result, not raised: what was observed must be written
    first.
    """
    watch = Watch(locate_in_graphs=locate_in_graphs)
    error: BaseException | None = None
    before = (list(sys.argv), list(sys.path))
    sys.argv = [target, *arguments]
    with watch, sightings:
        try:
            _run(target, is_module=is_module)
        except BaseException as raised:
            error = raised
            sightings.raised(raised)
        finally:
            sys.argv, sys.path[:] = before
    return ProgramRun(watch.account, sightings, _status(error), error)


def _run(target: str, *, is_module: bool) -> None:
    if is_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(target, run_name="__main__", alter_sys=True)
        return
    if is_function(target):
        sys.path.insert(0, os.getcwd())
        module, _, name = target.partition(":")
        called: Any = importlib.import_module(module)
        for part in name.split("."):
            called = getattr(called, part)
        called()
        return
    if os.path.isdir(target):
        runpy.run_path(target, run_name="__main__")
        return
    path = os.path.abspath(target)  # as Python has it in `__file__`
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    main = ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = builtins  # type: ignore[attr-defined]
    before = sys.modules.get("__main__")
    sys.modules["__main__"] = main
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), main.__dict__)
    finally:
        if before is not None:
            sys.modules["__main__"] = before


def is_function(target: str) -> bool:
    """Is it `package.module:function`, and not a file?"""
    module, colon, name = target.partition(":")
    return (
        bool(colon)
        and not os.path.exists(target)
        and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))
    )


def _status(error: BaseException | None) -> int:
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        if error.code is None:
            return 0
        return error.code if isinstance(error.code, int) else 1
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def print_error(error: BaseException) -> None:
    """As Python prints what ends a program: without the frames of those who ran it."""
    if isinstance(error, SystemExit):
        if error.code is not None and not isinstance(error.code, int):
            print(error.code, file=sys.stderr)
        return
    shown = error.__traceback__
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    while shown is not None and (
        shown.tb_frame.f_code.co_filename.startswith((own, "<frozen runpy"))
        or shown.tb_frame.f_code.co_filename.endswith("runpy.py")
    ):
        shown = shown.tb_next
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, shown)
    else:
        traceback.print_exception(type(error), error, shown)
