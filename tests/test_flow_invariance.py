"""Rewritings that change nothing for TensorFlow change nothing for gradlint; what it cannot see adds no errors."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator

import pytest

from flow_programs import Program, all_programs, flow
from support import Run

PROGRAMS = all_programs()
TOPICS = sorted({program.topic for program in PROGRAMS})
Rewriting = Callable[[Program], str | None]


def of_topic(topic: str) -> list[Program]:
    return [program for program in PROGRAMS if program.topic == topic]


# -- rewritings: the text of the same program in other words, or None where it does not apply ----------------------


def renamed(program: Program) -> str:
    """Other names for what the program itself binds, where they are no attributes or keywords as well."""
    nodes = list(ast.walk(ast.parse(program.text)))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    kept = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    kept |= {node.arg or "" for node in nodes if isinstance(node, ast.keyword)}
    kept |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    kept |= {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    names = "|".join(sorted(name for name in bound - kept if not name.startswith("__")))
    return re.sub(rf"(?<![\w.\"'])({names})\b(?![\"'])", r"\1_9", program.text) if names else program.text


def with_branches(program: Program) -> str:
    """A branch that does nothing before each statement."""
    return _with_bodies(program, lambda body: [new for each in body for new in (*_code("if flag_9: pass"), each)])


def in_blocks(program: Program) -> str:
    """`try` and a context that does nothing around the program."""
    inside = f"try:\n    with contextlib.nullcontext():\n{_indented(program, 8)}\nfinally:\n    print()\n"
    return f"{program.preamble}\nimport contextlib\n{inside}"


def in_function(program: Program) -> str | None:
    """The program as a function."""
    return None if "global " in program.cell else f"{program.preamble}\ndef main():\n{_indented(program, 4)}\nmain()\n"


def in_method(program: Program) -> str | None:
    """The program as a method."""
    if "global " in program.cell:
        return None
    return f"{program.preamble}\nclass Main:\n    def run(self):\n{_indented(program, 8)}\nMain().run()\n"


def in_tf_function(program: Program) -> str | None:
    """The program as a graph, where TensorFlow allows that."""
    if any(word in program.cell for word in ("global ", "Variable(", "asyncio", "keras", "tf.gradients", "add(x)")):
        return None
    if "import tensorflow as tf" not in program.preamble:
        return None
    return f"{program.preamble}\n@tf.function\ndef main():\n{_indented(program, 4)}\nmain()\n"


def unrolled(program: Program) -> str | None:
    """Each loop over a count written out twice."""
    if not re.search(r"^for _ in range", program.cell, re.M) or re.search(r"\b(break|continue)\b", program.cell):
        return None
    return _with_bodies(program, lambda body: [new for each in body for new in _twice(each)])


def uncalled_helper(program: Program) -> str:
    """A function that nobody calls, with a gradient call of its own that flows."""
    helper = "def unused_9(q):\n    q_9 = tf.Variable(1.0)\n    return q_9 * q\n"
    return f"{program.preamble}\n{helper}\n{program.cell}\n"


REWRITINGS: list[Rewriting] = [
    renamed, with_branches, in_blocks, in_function, in_method, in_tf_function, unrolled, uncalled_helper,
]  # fmt: skip


def _code(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _indented(program: Program, columns: int) -> str:
    return textwrap.indent(program.cell, " " * columns)


def _twice(statement: ast.stmt) -> list[ast.stmt]:
    match statement:
        case ast.For(target=ast.Name("_"), orelse=[]):
            return [*statement.body, *statement.body]
    return [statement]


def _with_bodies(program: Program, change: Callable[[list[ast.stmt]], list[ast.stmt]]) -> str:
    tree = ast.parse(program.cell)
    for node in list(ast.walk(tree)):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and not isinstance(node, ast.ClassDef):
                setattr(node, name, change(body))
    return f"{program.preamble}\nflag_9 = len(__name__) > 3\n{ast.unparse(ast.fix_missing_locations(tree))}\n"


# -- what must stay ------------------------------------------------------------------------------------------------


def verdicts(run: Run, text: str) -> list[tuple[str, str]]:
    """Verdict and cause of each source, whatever its name and row."""
    return sorted((each.verdict, each.cause) for each in flow(run, text))


def worst(run: Run, text: str) -> set[str]:
    """What is not well in some iteration."""
    return {each.verdict for each in flow(run, text)} - {"flows"}


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("rewriting", REWRITINGS, ids=lambda each: each.__name__)
def test_the_same_program_in_other_words_gets_the_same_verdicts(topic: str, rewriting: Rewriting, run: Run) -> None:
    told = worst if rewriting is unrolled else verdicts
    differing = {}
    for program in of_topic(topic):
        text = rewriting(program)
        if text is not None:
            before, after = (told(run, each) for each in (program.text, text))
            if before != after:
                differing[program.title] = (before, after)

    assert differing == {}


def without_one_import(program: Program) -> Iterator[str]:
    """The program with one import after the other from a module that nobody knows."""
    lines = program.text.splitlines()
    for number, line in enumerate(lines):
        hidden = re.sub(r"^(\s*)(import|from) [\w.]+", r"\1\2 unheard_of", line)
        if hidden != line:
            if " as " not in hidden and hidden.lstrip().startswith("import"):
                hidden += f" as {line.split()[1].partition('.')[0]}"
            yield "\n".join([*lines[:number], hidden, *lines[number + 1 :], "# tensorflow"])


#: What makes a variable is hidden below; hiding these takes the cure away, not the sight.
KEPT = frozenset(["Variable", "V", "watch", "Net", "step", "append", "__enter__", "list", "parameters"])


def without_one_callee(program: Program) -> Iterator[str]:
    """The program with one called function after the other replaced by something that nobody knows."""
    return _with_hidden_callees(program, lambda name: name not in KEPT)


def without_what_makes_a_variable(program: Program) -> Iterator[str]:
    """The program with a variable made by something that nobody knows."""
    return _with_hidden_callees(program, lambda name: name in ("Variable", "V"))


def _with_hidden_callees(program: Program, hides: Callable[[str], bool]) -> Iterator[str]:
    lines = program.text.splitlines()
    for call in ast.walk(ast.parse(program.text)):
        if not isinstance(call, ast.Call) or call.func.lineno != call.func.end_lineno:
            continue
        row, start, end = call.func.lineno - 1, call.func.col_offset, call.func.end_col_offset
        name = lines[row][start:end].rpartition(".")[2]
        if name.isidentifier() and hides(name):
            hidden = f"{lines[row][:start]}unheard_of.thing{lines[row][end:]}"
            yield "\n".join([lines[0], "import unheard_of  # tensorflow", *lines[2:row], hidden, *lines[row + 1 :]])


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("hide", [without_one_import, without_one_callee], ids=lambda each: each.__name__)
def test_what_cannot_be_seen_starves_nothing_more(
    topic: str, hide: Callable[[Program], Iterator[str]], run: Run
) -> None:
    assert _more_starved(of_topic(topic), hide, run) == []


def test_a_variable_whose_making_cannot_be_seen_is_not_starved(run: Run) -> None:
    assert _more_starved(PROGRAMS, without_what_makes_a_variable, run) == []


def _more_starved(programs: list[Program], hide: Callable[[Program], Iterator[str]], run: Run) -> list[str]:
    added = []
    for program in programs:
        before = starved_calls(run, program.text)
        for text in hide(program):
            new = starved_calls(run, text) - before
            if new:
                added.append(f"{program}: {sorted(new)}\n{text}")
    return added


def starved_calls(run: Run, text: str) -> set[int]:
    """The rows of gradient calls that leave something without a gradient."""
    return {each.row for each in flow(run, text) if each.verdict == "none"}
