"""Assumptions: what an arm takes for granted of an unknown value holds when the same is tested again.

`if kind == "np": ... elif kind == "tf": ...` twice: the second time the arm of "tf" sees what the first one left there.
A test is made a subject (what is tested) and what it can be where the test is true; passing it is written down as a
fact. Values that a join makes remember the facts of the arms they come from, and arms that contradict are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.enumerations import Member
from gradlint.flow.facts import FACTS, FALSY, TRUE, Known, Subject, constant_of, known_of, one_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.store import Key
from gradlint.flow.values import How, Kind, Value

#: Of these names of functions and methods the answer is the same as long as the arguments are.
_STEADY = frozenset(
    {
        "isinstance",
        "issubclass",
        "callable",
        "hasattr",
        "is_tensor",
        "is_nested",
        "startswith",
        "endswith",
        "type",
        "lower",
        "upper",
        "strip",
    }
)
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.LtE: ast.Gt, ast.GtE: ast.Lt}
_DEEPEST = 6
_MOST_LOOKED_AT = 60

#: What is tested, and what it is where the test is true.
Atom = tuple[Subject, Known]


def decided(it: Interpreter, test: ast.expr) -> bool | None:
    """Whether what was tested before decides this test."""
    atom = _atom(it, test)
    if atom is None:
        return None
    known = _fact(it, atom[0])
    if known.is_impossible or known.is_anything:
        return None
    if known.within(atom[1]):
        return True
    return False if known.within(atom[1].opposite()) else None


def in_arm(it: Interpreter, test: ast.expr, outcome: bool, run: Callable[[], None]) -> None:
    """Run code that is reached where a test has this outcome; names that it leaves alone are as before behind it."""
    undo = narrow(it) if assume(it, test, outcome) else []
    run()
    for key, narrowed, before in undo:
        if it.alive and it.store.get(key) is narrowed:
            it.store.set(key, before)


def assume(it: Interpreter, test: ast.expr, outcome: bool) -> bool:
    """Write down what is known where a test has this outcome; whether that is something new."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return assume(it, test.operand, not outcome)
    new = False
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is outcome:
        for each in test.values:
            new = assume(it, each, outcome) or new
    atom = _atom(it, test)
    if atom is None:
        return new
    subject, where_true = atom
    before = _fact(it, subject)
    known = before.both(where_true if outcome else where_true.opposite())
    if known.is_impossible or known == before:
        return new
    it.set_fact(subject, known)
    return True


def narrow(it: Interpreter) -> list[tuple[Key, Value, Value]]:
    """Leave out of the local names what comes from ways that contradict what is known here; what was changed."""
    changed: list[tuple[Key, Value, Value]] = []
    seen: dict[int, Value] = {}
    for key in _local_cells(it) if it.ways else ():
        value = it.store.get(key)
        if value is not None and value.how is How.JOIN:
            kept = _narrowed(it, value, seen)
            if kept is not value:
                it.store.set(key, kept)
                changed.append((key, kept, value))
    return changed


def _local_cells(it: Interpreter) -> list[Key]:
    return [(it.frame.id, name) for name in sorted(it.frame.names.local)]


def _narrowed(it: Interpreter, value: Value, seen: dict[int, Value]) -> Value:
    """The value without the ways that contradict; `seen` holds those that were looked at, and bounds the work."""
    ways = it.ways.get(value.serial)
    if ways is None or len(seen) >= _MOST_LOOKED_AT:
        return value
    if value.serial not in seen:
        seen[value.serial] = value
        kept = [_narrowed(it, way, seen) for facts, way in ways if _is_possible(it, facts)]
        same = len(kept) == len(ways) and all(new is way for new, (_, way) in zip(kept, ways, strict=True))
        if kept and not same:
            seen[value.serial] = it.join(kept)
    return seen[value.serial]


def _is_possible(it: Interpreter, facts: dict[Subject, Known]) -> bool:
    return not any(_fact(it, subject).both(known).is_impossible for subject, known in facts.items())


def _fact(it: Interpreter, subject: Subject) -> Known:
    return known_of(it.store.get((FACTS, subject)))


def _atom(it: Interpreter, test: ast.expr) -> Atom | None:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _atom(it, test.operand)
        return None if inner is None else (inner[0], inner[1].opposite())
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(it, test.left, test.ops[0], test.comparators[0])
    if isinstance(test, ast.BoolOp):
        atoms = [_atom(it, each) for each in test.values]
        if None in atoms:
            return None
        return (type(test.op).__name__, tuple(atoms)), TRUE
    subject = _subject(it, test)
    return None if subject is None else (subject, FALSY.opposite())


def _compared(it: Interpreter, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Atom | None:
    subject = _subject(it, left)
    if subject is None:
        left, right, subject = right, left, _subject(it, right)
        if subject is None or not isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            return None
    if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        told = _constants(right)
        if told is not None and len(told) == 1:
            known = one_of(told)
        else:
            other = _subject(it, right)
            if other is None:
                return None
            subject, known = ("==", frozenset((subject, other))), TRUE
        return subject, known if isinstance(op, ast.Eq | ast.Is) else known.opposite()
    if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        parts = [_constants(each) for each in right.elts]
        if None in parts:
            return None
        known = one_of(each for part in parts for each in part or ())
        return subject, known if isinstance(op, ast.In) else known.opposite()
    told = _constants(right)
    other = tuple(told) if told is not None else _subject(it, right)
    if other is None:
        return None
    mirrored = _MIRRORED.get(type(op))
    if mirrored is not None:
        return (mirrored.__name__, subject, other), TRUE.opposite()
    return (type(op).__name__, subject, other), TRUE


def _constants(node: ast.expr) -> list[object] | None:
    """The one constant that an expression is written as."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        told = constant_of(-number) if isinstance(number, int | float) else None
    else:
        told = constant_of(node.value) if isinstance(node, ast.Constant) else None
    return None if told is None else [told]


def _subject(it: Interpreter, node: ast.expr, depth: int = 0) -> Subject | None:
    """What an expression reads, the same whenever it reads the same; None where that may change unseen."""
    if depth > _DEEPEST:
        return None
    match node:
        case ast.Name():
            return _of_value(it, it.evaluate(node), owner=depth > 0)
        case ast.Attribute(value=base, attr=name):
            owner = _subject(it, base, depth + 1)
            if owner is None or name in it.relevance.assigned_outside_init:
                return None
            function = it.frame.function
            if function is not None and function.name == "__init__":
                return None  # it is being set
            return (owner, name)
        case ast.Subscript(value=base, slice=ast.Constant(value=str() as key)):
            owner = _subject(it, base, depth + 1)
            return None if owner is None or _is_written(it, base, key) else (owner, "[]", key)
        case ast.Call(func=function, args=arguments, keywords=[]):
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name not in _STEADY:
                return None
            parts = [_subject(it, each, depth + 1) or ast.unparse(each) for each in arguments]
            owner = _subject(it, function.value, depth + 1) if isinstance(function, ast.Attribute) else name
            return None if owner is None else (owner, name, "()", *parts)
    return None


def _is_written(it: Interpreter, base: ast.expr, key: str) -> bool:
    """Whether code in sight has put something under this key."""
    value = it.evaluate(base)
    return it.store.get((-value.serial - 1, ("item", key))) is not None or value.kind is Kind.CONTAINER


#: What can be told from others by a test, and does not change where nobody sees it.
_STABLE = (Kind.UNKNOWN, Kind.PLAIN, Kind.LITERAL, Kind.TENSOR, Kind.SYMBOLIC)
_OWNERS = (Kind.UNKNOWN, Kind.PLAIN, Kind.INSTANCE)


def _of_value(it: Interpreter, value: Value, *, owner: bool) -> Subject | None:
    if value.kind not in (_OWNERS if owner else _STABLE) or isinstance(value.ref, Member):
        return None
    name = ("value", value.serial) if value.serial else ("unknown", value.label, value.kind)
    return (*name, it.called_on.get(value.serial, 0))
