"""What a child of `tensorflow_children.py` does for the documentation: runs a program, or a command of a transcript.

A program that defines tests is given to pytest, any other one is run as `python` would.
"""

import ast
import importlib
import json
import os
import runpy
import sys
from pathlib import Path

#: The plugin is imported before pytest could rewrite its asserts; in a process of its own it is not.
_PYTEST = ("-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")


def prepare() -> None:
    """In the server: what most programs and commands import."""
    for name in ("pytest", "gradlint.cli.main", "gradlint.probe.joined"):
        importlib.import_module(name)


def answer(work: dict[str, str | list[str]]) -> str:
    """In the child: how the program ended, or what the command printed.

    `work` has `folder`, and `program` (a file there) or `words` of a command.
    """
    folder = str(work["folder"])
    os.chdir(folder)
    sys.path.insert(0, folder)
    if "program" in work:
        return json.dumps(_end_of(str(work["program"])))
    return _printed_by([str(word) for word in work["words"]])


def has_tests(text: str) -> bool:
    """Does the program define tests for pytest?"""
    return any(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in ast.parse(text).body)


def _end_of(program: str) -> tuple[str, str]:
    """The kind of exception that ended it, and its words; both empty when it ended well."""
    if has_tests(Path(program).read_text(encoding="utf-8")):
        import pytest

        status = pytest.main([program, *_PYTEST])
        return ("", "") if status == 0 else ("TestsFailed", f"pytest ended with {status}")
    sys.argv = [program]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        return ("SystemExit", str(end.code)) if end.code else ("", "")
    except BaseException as error:
        return type(error).__name__, str(error)[:300]
    return "", ""


def _printed_by(words: list[str]) -> str:
    """Everything that reached either stream, in its order, also from C++; less what tells of this module's calls."""
    with open("printed.txt", "w+", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        os.environ["NO_COLOR"] = "1"
        try:
            _run(words)
        except SystemExit:
            pass
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    lines = Path("printed.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if __file__ not in line)


def _run(words: list[str]) -> None:
    if words[0] == "gradlint":
        from gradlint.cli.main import main

        main(words[1:], prog_name="gradlint")
    elif words[0] == "pytest":
        import pytest

        pytest.main([*words[1:], *_PYTEST])
    else:
        raise ValueError(f"{words[0]}: neither gradlint nor pytest")
