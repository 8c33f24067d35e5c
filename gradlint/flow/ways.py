"""Ways: pure questions about one way from a source to a target: where it is cut, and when that was computed."""

from __future__ import annotations

import ast
from enum import Enum, auto

from gradlint.flow.asking import Asked, SourceAsked
from gradlint.flow.events import Making, Moment
from gradlint.flow.objects import Tape, Variable
from gradlint.flow.reach import WayStep
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.ops import table as ops
from gradlint.ops.op import Role
from gradlint.verdicts import Cause

#: What only puts a loss together.
_ASSEMBLING = frozenset({Role.SUM, Role.DIFFERENCE, Role.COPY, Role.TOTAL})
#: Numbers that a loss is scaled with.
FACTORS = frozenset({Role.PRODUCT, Role.QUOTIENT})
_MEANS = frozenset({Role.TOTAL, Role.COPY})


def is_assembling(value: Value) -> bool:
    """Whether an operation only puts a loss together."""
    if value.how in (How.JOIN, How.GRADIENT):
        return True
    return (value.op.role in _ASSEMBLING and value.op.linear) or value.op in (ops.ITEM, ops.STACK)


class Sameness(Enum):
    """Whether a target is the very object that is asked for."""

    SURE = auto()
    POSSIBLE = auto()
    NO = auto()


def sameness(asked: Asked, source: SourceAsked) -> Sameness:
    """A target that is the source has gradient one, watched or not."""
    found = [_same_object(target, source) for target in asked.targets]
    if Sameness.SURE in found:
        # Beside another target that was recorded, an unwatched source gets None (fixtures: random finds).
        # `jacobian` asks the tape even then.
        return Sameness.SURE if len(found) == 1 and asked.asked == "gradient" else Sameness.POSSIBLE
    return Sameness.POSSIBLE if Sameness.POSSIBLE in found else Sameness.NO


def _same_object(target: Value, source: SourceAsked) -> Sameness:
    if target is source.value:
        return Sameness.SURE
    ours, theirs = alternatives(target, 16), alternatives(source.value, 16)
    if ours is None or theirs is None:
        return Sameness.POSSIBLE
    common = [each for each in ours if any(each is other for other in theirs)]
    if common:
        return Sameness.SURE if len(ours) == len(theirs) == 1 else Sameness.POSSIBLE
    for each in ours:
        if isinstance(each.ref, Variable) and each.ref.id in source.members:
            return Sameness.POSSIBLE
        if each.is_opaque and any(other.is_opaque and _may_be_one(each, other) for other in theirs):
            return Sameness.POSSIBLE
    return Sameness.NO


def _may_be_one(left: Value, right: Value) -> bool:
    """Whether two unknowns may have been read out of the same place."""
    return (left.root or left) is (right.root or right)


def cut_edge(way: list[WayStep]) -> Cause | None:
    return next((step.cut for step in way if step.cut is not None), None)


def first_cut(way: list[WayStep], bits: int) -> tuple[int | None, Cause | None]:
    """Index of the first node, in the order of running, that the tapes did not record or no gradient passes."""
    for index, step in enumerate(way):
        if step.cut is not None:
            return index, step.cut
        recorded = (How.OPERATION, How.GRADIENT, How.OPAQUE_CALL)
        if index and step.value.how in recorded and not step.value.possible & bits:
            if step.value.kind is not Kind.PLAIN:
                return index, None
    return None, None


def last_outside(steps: list[WayStep], tape: Tape) -> Value:
    """The last value on the way that was computed while the tape was not recording: what its author sees."""
    last = steps[0].value
    for step in steps:
        if step.value.how is How.JOIN:
            continue
        if step.value.node is None or moment_of(step.value, tape) is Moment.UNDER:
            break
        last = step.value
    return last


def is_forward_pass(value: Value) -> bool:
    """Whether data met a variable in a matrix product or convolution on the way to this value: a model written out."""
    seen: set[int] = set()
    stack = [value]
    while stack and len(seen) < 200:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        if each.op.role is Role.MATRIX_PRODUCT and len(each.inputs) > 1:
            variables = [_has_variable(taken) for taken in each.inputs]
            if any(variables) and not all(variables):
                return True
        stack.extend(each.inputs)
    return False


def _has_variable(value: Value) -> bool:
    seen: set[int] = set()
    stack = [value]
    while stack and len(seen) < 200:
        each = stack.pop()
        if each.kind in (Kind.VARIABLE, Kind.VARIABLES):
            return True
        if each.serial not in seen:
            seen.add(each.serial)
            stack.extend(each.inputs)
    return False


def is_slice(value: Value) -> bool:
    return value.op.role is Role.PICK or value.op is ops.RESHAPE


def is_reduction(value: Value) -> bool:
    return (
        value.op.role in (Role.TOTAL, Role.EXTREME, Role.LOSS)
        or value.op in (ops.ADD_N, ops.SUM_OF)
        or "losses." in value.label
    )


def behind_scale(value: Value, scales: frozenset[Role]) -> Value:
    """What is left of a value without the numbers that it is multiplied with, and means, where those are scales."""
    while value.how is How.OPERATION and value.op.role in scales and (value.op.role in FACTORS or value.op.linear):
        inner = [each for each in value.inputs if each.kind not in (Kind.LITERAL, Kind.PLAIN)]
        if len(inner) != 1:
            break
        value = inner[0]
    return value


def moment_of(value: Value, tape: Tape) -> Moment:
    serial = value.serial
    if any(serial < reset for reset in tape.resets) and any(start <= serial <= end for start, end in tape.spans):
        return Moment.RESET
    for start, end in tape.spans:
        if start <= serial <= end:
            for pause, resume in zip(tape.paused[::2], tape.paused[1::2], strict=False):
                if pause <= serial <= resume:
                    return Moment.PAUSED
            return Moment.UNDER
    if tape.spans and serial > tape.spans[-1][1]:
        return Moment.AFTER
    return Moment.BEFORE


def within(clock: int, tape: Tape) -> bool:
    return any(start <= clock <= end for start, end in tape.spans)


def origin_of(value: Value) -> Value:
    """The call or parameter that an unknown was read out of."""
    while value.how is How.PART and value.inputs and value.inputs[0].is_opaque:
        value = value.inputs[0]
    while value.how is How.OPAQUE_CALL and value.root is not None and value.root.how is How.OPAQUE_CALL:
        value = value.root
    return value


def making_of(value: Value) -> Making:
    if value.how is How.GRADIENT:
        return Making.GRADIENT
    if value.how is How.OPAQUE_CALL or value.is_computed:
        return Making.FORWARD
    return Making.OPERATION


def contains(outer: ast.AST, inner: ast.AST) -> bool:
    return any(each is inner for each in ast.walk(outer))


def creation(value: Value) -> ast.AST:
    """Where a variable was made: the call that says `trainable=False`, seen through helpers."""
    node, frame = value.node, value.frame
    assert node is not None
    while frame is not None and not says_not_trainable(node) and frame.call_node is not None:
        if frame.function is not None and frame.function.name == "__init__":
            break
        node, frame = frame.call_node, frame.caller
    return node


def says_not_trainable(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return any(each.arg == "trainable" and isinstance(each.value, ast.Constant) for each in node.keywords) or any(
        isinstance(each, ast.Constant) and each.value is False for each in node.args[1:2]
    )


def summands(target: Value) -> list[Value]:
    """The terms of a sum; of a mean over examples: the terms of each one's loss."""
    inner = behind_scale(target, FACTORS | _MEANS)
    if inner is not target and inner.op.role is Role.SUM:
        terms = summands(inner)
        if all(is_reduction(behind_scale(term, FACTORS)) for term in terms):
            return terms
    found: list[Value] = []
    stack = [target]
    while stack and len(found) < 32:
        value = stack.pop()
        if value.how is How.OPERATION and value.op.role is Role.SUM and len(value.inputs) > 1:
            stack.extend(reversed(value.inputs))
        elif value.how is How.JOIN and value.label != "loop":
            # A term that is added on some ways only.
            stack.extend(each for each in value.inputs if each.how is How.OPERATION and each.op.role is Role.SUM)
        elif value.how is How.OPERATION and value.op is ops.SUBTRACT and len(value.inputs) == 2:
            # `loss - beta * bonus` is a sum of terms; `a - b` may be a difference that means one thing.
            left, right = value.inputs
            if right.how is How.OPERATION and right.op.role is Role.PRODUCT:
                stack.extend((right, left))
            else:
                found.append(value)
        else:
            found.append(value)
    return found
