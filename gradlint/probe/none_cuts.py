"""Why a source gets None: what the tape never saw is told from the ops' own notes, the rest TensorFlow is asked."""

from __future__ import annotations

from collections.abc import Sequence

from gradlint.probe.asked_cuts import why_asked
from gradlint.probe.cuts import PYTHON, READS, CutFound, Question, cause_of, is_discrete, source_read
from gradlint.probe.dataflow import CAPTURE, Op, Slice, backward, slice_between
from gradlint.probe.places import Line
from gradlint.verdicts import Cause


def why_none(question: Question) -> CutFound:
    """The cut that leaves the source with None."""
    found = slice_between(question.source, question.target_numbers, question.ops)
    if not found.between:
        return _unconnected(question, found)
    if not question.is_watched and not _reads_are_unrecorded(question, found):
        return _not_watched(question, found)
    tracked, lost = _as_recorded(question, found)
    if tracked.isdisjoint(question.target_numbers):
        return _lost(question, found, lost)
    return why_asked(question, found) or CutFound(Cause.NOT_IN_TARGET, steps=source_read(found))


def _unconnected(question: Question, found: Slice) -> CutFound:
    """Nothing that was computed from the source leads to the target."""
    if not found.reached:
        return CutFound(Cause.NEVER_READ if question.is_variable else Cause.NOT_IN_TARGET)
    uses = [op for op in found.reached if op.kind not in READS]
    if not uses:
        return CutFound(Cause.NEVER_READ if question.is_variable else Cause.NOT_IN_TARGET)
    order = {id(op): index for index, op in enumerate(question.ops)}
    computed = backward(question.target_numbers, question.ops)
    last = order[id(computed[-1])] if computed else len(question.ops)
    exits = [op for op in uses if op.kind in PYTHON and order[id(op)] < last]
    under_tape = [op for op in exits if question.tape.number in op.tapes]
    first_of_target = min((order[id(op)] for op in computed if op.kind not in READS), default=last)
    leaving = under_tape or [op for op in exits if order[id(op)] > first_of_target]
    if leaving:
        op = leaving[-1]
        return CutFound(Cause.LEFT_TENSORFLOW, op.kind, op.name, op.where, steps=source_read(found), op=op)
    return CutFound(Cause.NOT_IN_TARGET, steps=source_read(found))


def _reads_are_unrecorded(question: Question, found: Slice) -> bool:
    """Was a trainable variable read only while the tape was not recording?"""
    if not (question.is_variable and question.trainable and question.tape.watches_variables):
        return False
    reads = [op for op in found.between if question.source in op.inputs]
    return bool(reads) and not any(question.tape.number in op.tapes for op in reads)


def _not_watched(question: Question, found: Slice) -> CutFound:
    first = found.between[0]
    return CutFound(Cause.NOT_WATCHED, steps=(("source used here", first.where[0]),) if first.where else ())


def _as_recorded(question: Question, found: Slice) -> tuple[set[int], list[Op]]:
    """The tensors that a tape which blocks nowhere would follow, and the ops where it loses them."""
    tape = question.tape
    early = set() if question.is_variable else _before_watching(question)
    tracked = {question.source}
    lost = []
    for op in found.between:
        if tracked.isdisjoint(op.inputs):
            continue
        recorded = op.kind == CAPTURE or (tape.number in op.tapes and id(op) not in early)
        outputs = {number for number, floats in zip(op.outputs, op.floats, strict=False) if floats}
        if recorded and outputs and not op.writes:
            tracked |= outputs
            if found.tensors.isdisjoint(outputs):  # indices beside values: the way goes on through the integers
                lost.append(op)
        else:
            lost.append(op)
    return tracked, lost


def _before_watching(question: Question) -> set[int]:
    """The ops (their `id`) that ran before the tape was told to watch the source."""
    graph, since = question.tape.watched.get(question.source, (None, 0))
    if graph is None:
        return set(map(id, question.ops[:since]))
    early = {id(op) for op in question.graph.get_operations()[:since]} if id(question.graph) == graph else set()
    return {id(op) for op in question.ops if op.graph_op is None or id(op.graph_op) in early}


def _lost(question: Question, found: Slice, lost: Sequence[Op]) -> CutFound:
    """The first op at which the tape cannot follow; the last of them is the other end."""
    if not lost:
        return CutFound(Cause.NOT_IN_TARGET, steps=source_read(found))
    op = next((op for op in lost if op.where), lost[0])
    cause = _cause_of_loss(op, question)
    if op.kind in READS:  # reading is never the cut: what is made of it is
        user = next((each for each in found.between if not set(op.outputs).isdisjoint(each.inputs)), None)
        op = user if user is not None and user.where[:1] == op.where[:1] else op
    steps: list[tuple[str, Line]] = []
    reads = next((op for op in found.between if op.where), None)
    if reads is not None and reads is not op:
        steps.append(("source read here", reads.where[0]))
    watch = question.tape.watch_lines.get(question.source)
    if cause is Cause.NOT_WATCHED and watch is not None:
        steps.append(("watched here, too late", watch))
    far = _back_to_floats(found, op) if cause is Cause.INTEGER or is_discrete(op) else op
    return CutFound(cause, op.kind, op.name, op.where, far.kind, far.where, tuple(steps), op)


def _back_to_floats(found: Slice, first: Op) -> Op:
    """The last op of the integer segment that starts with this one: where it becomes a float tensor again."""
    integers = {number for number, floats in zip(first.outputs, first.floats, strict=False) if not floats}
    last = first
    for op in found.between[found.between.index(first) + 1 :]:
        if integers.isdisjoint(op.inputs):
            continue
        last = op
        if any(op.floats):
            return op
        integers.update(op.outputs)
    return last


def _cause_of_loss(op: Op, question: Question) -> Cause:
    if op.writes:
        return Cause.STATE
    if question.tape.number in op.tapes or op.kind == CAPTURE:
        if not any(op.floats) or len(op.outputs) > 1:
            return cause_of(op)
        return Cause.NOT_WATCHED  # recorded, but before the source was watched
    return Cause.WRONG_TAPE if op.tapes else Cause.OUTSIDE_TAPE
