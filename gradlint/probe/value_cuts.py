"""Where zeros and NaN begin that come from the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradlint.probe.asked_cuts import frontier, inside
from gradlint.probe.cuts import CutFound, Question, cause_of, source_read
from gradlint.probe.dataflow import Op, Slice, backward, slice_between
from gradlint.probe.intermediates import ROUNDING, Intermediates
from gradlint.verdicts import Cause, Verdict


def why_zero(question: Question) -> CutFound | None:
    """The op that turns a gradient into zeros: an output has one that is not zero, no input has."""
    import numpy as np

    found = slice_between(question.source, question.target_numbers, question.ops)
    op = _where_it_turns(question, found, lambda gradient: bool(np.any(~(np.abs(gradient) <= ROUNDING))))
    if op is None:
        return None
    inner = inside(op, found, question.graphs)
    if inner is not None:
        return CutFound(
            cause_of(inner), inner.kind, inner.name, inner.where or op.where, steps=source_read(found), op=op
        )
    return CutFound(_zero_cause(op), op.kind, op.name, op.where, steps=source_read(found), op=op)


def why_by_value(question: Question, verdict: Verdict, intermediates: Intermediates) -> CutFound | None:
    """In a compiled graph: the op where the zero or the NaN begins, from what its steps saw of the tensors between."""
    seen = intermediates.seen()
    if not seen:
        return None
    ops = intermediates.ops
    if verdict is Verdict.NAN:
        bad: set[int] = set()
        for op in backward(question.target_numbers, ops):
            made = [number for number in op.outputs if number in seen and not seen[number][0]]
            if made and bad.isdisjoint(op.inputs):
                return CutFound(Cause.UNSAFE_BRANCH, op.kind, op.name, op.where)
            bad.update(made)
    found = slice_between(question.source, question.target_numbers, ops)
    aspect = 2 if verdict is Verdict.NAN else 1
    good = set(question.target_numbers) | {number for number, row in seen.items() if row[aspect]}
    turns = frontier(found, good)
    if turns is None:
        return None
    cause = Cause.UNSAFE_BRANCH if verdict is Verdict.NAN else _zero_cause(turns)
    return CutFound(cause, turns.kind, turns.name, turns.where, steps=source_read(found))


def _zero_cause(op: Op) -> Cause:
    saturating = ("Relu", "Clip", "Sign", "Minimum", "Maximum", "Sigmoid", "Tanh", "Select", "Hard", "Elu", "Selu")
    return Cause.SATURATED if any(part in op.kind for part in saturating) else Cause.CONSTANT


def why_nan(question: Question) -> CutFound | None:
    """The op whose result is the first that is not finite; else the one whose gradient is."""
    import numpy as np

    computed = backward(question.target_numbers, question.ops)
    known = {number: tensor for op in computed for number, tensor in zip(op.outputs, op.tensors, strict=False)}
    if not all(_finite(target) for target in question.targets):
        bad: set[int] = set()
        for op in computed:
            made = [number for number in op.outputs if number in known and not _finite(known[number])]
            if made and bad.isdisjoint(op.inputs):
                return CutFound(Cause.UNSAFE_BRANCH, op.kind, op.name, op.where)
            bad.update(made)
    found = slice_between(question.source, question.target_numbers, question.ops)
    turns = _where_it_turns(question, found, lambda gradient: bool(np.all(np.isfinite(gradient))))
    if turns is None:
        return None
    return CutFound(Cause.UNSAFE_BRANCH, turns.kind, turns.name, turns.where, steps=source_read(found), op=turns)


def _where_it_turns(question: Question, found: Slice, is_good: Callable[[Any], bool]) -> Op | None:
    if question.gradients is None or not found.between:
        return None
    good = set(question.target_numbers)
    for number, gradient in question.gradients.items():
        numbers = numbers_of(gradient)
        if numbers is not None and is_good(numbers):
            good.add(number)
    return frontier(found, good)


def numbers_of(gradient: Any) -> Any:
    """The entries of a gradient as an array of NumPy; None where there are none to see."""
    values = getattr(gradient, "values", gradient)  # of IndexedSlices
    if values is None or callable(values) or not hasattr(values, "numpy"):
        return None
    try:
        numbers = values.numpy()
    except Exception:  # symbolic, or on a device that is gone
        return None
    # NumPy knows nothing of bfloat16 and its like.
    return numbers.astype("float32") if numbers.dtype.kind == "V" else numbers


def _finite(tensor: Any) -> bool:
    import numpy as np

    numbers = numbers_of(tensor)
    return numbers is None or numbers.dtype.kind not in "fc" or bool(np.all(np.isfinite(numbers)))
