"""Programs on which an analysis could go on for ever, or forget everything: it ends, and says what it can.

A run that does not end is what fails here; `make test` has no clock of its own.
"""

from __future__ import annotations

import pytest

from flow_programs import Said, flow
from support import Run

PREAMBLE = """\
import tensorflow as tf
w = tf.Variable(2.0, name="w")
x = tf.constant(3.0)
flag = bool(tf.random.uniform([]) < 2.0)
"""
STEP = "with tf.GradientTape() as tape:\n    loss = {loss}\ntape.gradient(loss, w)\n"


def diamond(depth: int) -> str:
    """Each function calls the next one twice."""
    steps = [f"def f{i}(v):\n    return f{i + 1}(v) + f{i + 1}(v)\n" for i in range(depth)]
    return "".join(steps) + f"def f{depth}(v):\n    return v * w\n" + STEP.format(loss="f0(x)")


def mutual_recursion() -> str:
    return (
        "def even(n, v):\n    return v if n == 0 else odd(n - 1, v * w)\n"
        "def odd(n, v):\n    return v if n == 0 else even(n - 1, v * w) + odd(n - 2, v)\n"
    ) + STEP.format(loss="even(100, x)")


def sums(count: int) -> str:
    body = "".join("    loss += w * x\n" for _ in range(count))
    return f"with tf.GradientTape() as tape:\n    loss = w * x\n{body}tape.gradient(loss, w)\n"


def nested_ifs(depth: int) -> str:
    lines = [f"{' ' * i}if flag:" for i in range(1, depth)]
    last = f"{' ' * depth}loss = loss + w * x"
    return "\n".join(["with tf.GradientTape() as tape:", " loss = w * x", *lines, last, "tape.gradient(loss, w)", ""])


def unpacked(count: int) -> str:
    names = ", ".join(f"v{i}" for i in range(count))
    ends = f"    loss = v0 + v{count - 1}\ntape.gradient(loss, w)\n"
    return f"with tf.GradientTape() as tape:\n    {names} = [w * x for _ in range({count})]\n{ends}"


def large_dict(count: int) -> str:
    entries = ", ".join(f"'k{i}': {i}" for i in range(count))
    return f"table = {{{entries}}}\n" + STEP.format(loss="w * x * table['k1']")


def nested_loops(depth: int) -> str:
    lines = [f"{' ' * i}for i{i} in range(3):" for i in range(1, depth + 1)]
    last = f"{' ' * (depth + 1)}loss = loss + w * x"
    return "\n".join(["with tf.GradientTape() as tape:", " loss = w * x", *lines, last, "tape.gradient(loss, w)", ""])


def growing_arguments(count: int) -> str:
    """Each `if` doubles the lengths that the list can have."""
    body = "".join("if flag:\n    args += [x]\nelse:\n    args += []\n" for _ in range(count))
    return f"args = [x]\n{body}def f(*values):\n    return w * values[0]\n" + STEP.format(loss="f(*args)")


def self_containing() -> str:
    return "a = []\na.append(a)\nb = {'a': a}\na.append(b)\nobject_ = type(a)\n" + STEP.format(loss="w * len(a)")


def stacks_of_stacks(depth: int, width: int) -> str:
    """The same value on very many ways, before a test that could ask for it."""
    stacks = "".join(f"    v{i} = tf.stack([{', '.join([f'v{i - 1}'] * width)}])\n" for i in range(1, depth + 1))
    test = f"    loss = tf.reduce_sum(v{depth})\n    if loss > 3.0:\n        loss = loss * x\n"
    return f"with tf.GradientTape() as tape:\n    v0 = w * x\n{stacks}{test}tape.gradient(loss, w)\n"


def elifs(count: int) -> str:
    body = "".join(f"elif x == {i}:\n    loss = w * {i}.0\n" for i in range(count))
    return f"with tf.GradientTape() as tape:\n    loss = w * x\nif flag:\n    pass\n{body}tape.gradient(loss, w)\n"


def endless_class() -> str:
    return (
        "class Node:\n    def __init__(self, depth):\n        self.child = Node(depth - 1) if depth else None\n"
        "    def value(self):\n        return w if self.child is None else w * self.child.value()\n"
    ) + STEP.format(loss="Node(50).value()")


def long_chain(count: int) -> str:
    return STEP.format(loss=" + ".join(["w * x"] * count))


def functions_of_functions(depth: int) -> str:
    text = "f0 = lambda v: v * w\n"
    text += "".join(f"f{i} = lambda v: f{i - 1}(f{i - 1}(v))\n" for i in range(1, depth))
    return text + STEP.format(loss=f"f{depth - 1}(x)")


DECIDED = {
    "1,000 additions in place": sums(1000),
    "90 nested ifs": nested_ifs(90),
    "200 names unpacked": unpacked(200),
    "a dict of 2,000 entries": large_dict(2000),
    "loops nested 8 deep": nested_loops(8),
    "14 ifs that may lengthen a list": growing_arguments(14),
    "a list that holds itself": self_containing(),
    "a sum of 1,000 terms": long_chain(1000),
    "9 stacks of 32 stacks": stacks_of_stacks(9, 32),
}


def asked_again(count: int) -> str:
    """Words of strangers decide what a name holds, again and again, each way a way of ways."""
    tests = [f"    v = v * w if a == '{i}' else v + w if b == '{i}' or v is None else v\n" for i in range(count)]
    again = [f"    if a == '{i}' and b != '{i}':\n        v = v * w\n" for i in range(count)]
    return f"def f(v, a, b):\n{''.join(tests + again)}    return v\n" + STEP.format(loss="f(x, str(x), input())")


ENDING = {
    "60 words, each tested twice": asked_again(60),
    "a diamond of 20 calls": diamond(20),
    "mutual recursion": mutual_recursion(),
    "300 elifs": elifs(300),
    "objects that make objects": endless_class(),
    "lambdas that double lambdas": functions_of_functions(24),
    "18 nested loops": nested_loops(18),
}


@pytest.mark.parametrize("program", DECIDED.values(), ids=DECIDED.keys())
def test_large_but_plain_programs_are_decided(program: str, run: Run) -> None:
    assert {each.verdict for each in flow(run, PREAMBLE + program)} == {"flows"}


@pytest.mark.parametrize("program", ENDING.values(), ids=ENDING.keys())
def test_what_is_too_much_ends_and_claims_nothing_false(program: str, run: Run) -> None:
    assert {each.verdict for each in flow(run, PREAMBLE + program)} <= {"flows", "unknown"}


@pytest.mark.parametrize("program", ENDING.values(), ids=ENDING.keys())
def test_what_follows_too_much_in_a_function_of_its_own_is_still_judged(program: str, run: Run) -> None:
    inside = "".join(f"    {line}\n" for line in program.splitlines())
    late = """\
def late():
    v = tf.Variable(1.0)
    loss = v * v
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(loss, v)
"""
    text = f"{PREAMBLE}def much():\n{inside}{late}"
    first = text.count("\n", 0, text.index("def late"))

    said = [each for each in flow(run, text) if each.row > first]

    assert said == [Said(first + 6, "v", "none", "outside-tape", first + 3)]
