"""Where flow ends between a source and a target, and why: TensorFlow is asked, tensor by tensor.

The tape of the program is asked again, for the tensors in between: the cut is the op of which an output has a gradient
and no input has one. What the tape never saw (it was closed, or watched nothing) is told from the ops' own notes.
Inside the bodies of control flow and of called functions `tf.gradients` is asked in the same way.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradlint.probe.dataflow import CAPTURE, LEAVES, Op, Slice, backward, is_float, of_graph, slice_between
from gradlint.probe.intermediates import ROUNDING, Intermediates
from gradlint.probe.places import Line, Stack
from gradlint.probe.private_api import body_of, handles_of, tensor_id
from gradlint.probe.tapes import TapeSeen
from gradlint.verdicts import Cause, Verdict

_MOST_ASKED = 4000
_DEEPEST_BODY = 6
_MOST_KNOWN = 16
_SAMPLES = ("Multinomial", "RandomUniformInt", "RandomPoisson", "StatelessRandomPoisson", "StatelessRandomBinomial")
_STOPS = ("StopGradient", "PreventGradient")
_PYTHON = (LEAVES, "PyFunc", "PyFuncStateless", "EagerPyFunc")
_STATE = ("LookupTable", "Dequeue", "Assign", "Scatter", "TensorArray", "Iterator", "ResourceGather")
_DISCRETE = ("ArgMax", "ArgMin", "TopK", "Unique", "Bucketize", "SearchSorted", "UpperBound", "LowerBound", "Where")
#: Ops with a registered gradient that always gives None (facts/probe.md, 4e), and those that stop it.
_PASS_NOTHING = frozenset(
    ("ArgMax", "ArgMin", "Ceil", "Floor", "FloorDiv", "LoopCond", "Rint", "Round", "TruncateDiv", *_STOPS)
)
#: Reading a variable is never the cut: no gradient is asked for what is read, only for what comes of it.
_READS = ("ReadVariableOp", CAPTURE, "Enter", "VariableV2")
_BODIES = ("body", "then_branch", "else_branch", "f")


@dataclass(frozen=True, slots=True)
class CutFound:
    """Where and why a source gets nothing from a target."""

    cause: Cause
    kind: str = ""
    """The type of the op that cuts, as TensorFlow names it; empty when no op is to blame."""
    name: str = ""
    """Its name in the graph, which holds the names of layers; empty for an op that ran eagerly."""
    stack: Stack = ()
    """The user's lines that ran it, the innermost first."""
    far_kind: str = ""
    far_stack: Stack = ()
    """The other end of the dead segment: the op nearest to the target that no gradient passes, if it is another one."""
    steps: tuple[tuple[str, Line], ...] = field(default=())
    """Lines on the way, in the order of running, each with what happened there."""
    op: Op | None = field(default=None, compare=False, repr=False)
    """The op itself, to see whether it is the cut of other sources too."""

    @property
    def line(self) -> Line | None:
        return self.stack[0] if self.stack else None


@dataclass(frozen=True, slots=True)
class Question:
    """A source that got nothing, and all that is known about it."""

    source: int
    targets: tuple[Any, ...]
    tape: TapeSeen
    ops: Sequence[Op]
    is_variable: bool
    trainable: bool
    is_watched: bool
    """Is it, or was it ever, watched by the tape?"""
    graphs: dict[str, Any]
    source_tensor: Any = None
    gradients: dict[int, Any] | None = None
    """What the tape gave for the tensors in between, by number, when they were asked for in the same call."""
    graph: Any = None
    """The graph of tf.function that the target is in, if any."""

    def source_as_asked(self) -> dict[int, Any]:
        """The source, as a gradient is asked for it: of a variable the resource."""
        if self.source_tensor is None:
            return {}
        handles = handles_of(self.source_tensor) if self.is_variable else [self.source_tensor]
        return {tensor_id(handle): handle for handle in handles}

    @property
    def target_numbers(self) -> tuple[int, ...]:
        return tuple(tensor_id(target) for target in self.targets)


class KnownCuts:
    """Cuts that were found for some sources of a gradient call, to be recognised for others: asking takes long."""

    def __init__(self, ops: Sequence[Op], targets: Sequence[int]) -> None:
        self._ops = ops
        self._targets = targets
        self._known: list[tuple[CutFound, set[int], set[int]]] = []

    def add(self, cut: CutFound) -> None:
        """Remember this cut."""
        if cut.op is None or len(self._known) >= _MOST_KNOWN:
            return
        before = _leading_to(cut.op.inputs, self._ops)
        around = _leading_to(self._targets, [op for op in self._ops if op is not cut.op])
        self._known.append((cut, before, around))

    def of(self, source: int) -> CutFound | None:
        """The known cut through which every way from the source leads."""
        return next((cut for cut, before, around in self._known if source in before and source not in around), None)


def _leading_to(targets: Sequence[int], ops: Sequence[Op]) -> set[int]:
    """The numbers of all tensors and variables that the targets were computed from."""
    wanted = set(targets)
    for op in reversed(ops):
        if not wanted.isdisjoint(op.outputs) or (op.writes and op.inputs and op.inputs[0] in wanted):
            wanted.update(op.inputs)
    return wanted


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
    return _asked(question, found) or CutFound(Cause.NOT_IN_TARGET, steps=_reads(found))


def _unconnected(question: Question, found: Slice) -> CutFound:
    """Nothing that was computed from the source leads to the target."""
    if not found.reached:
        return CutFound(Cause.NEVER_READ if question.is_variable else Cause.NOT_IN_TARGET)
    uses = [op for op in found.reached if op.kind not in _READS]
    if not uses:
        return CutFound(Cause.NEVER_READ if question.is_variable else Cause.NOT_IN_TARGET)
    order = {id(op): index for index, op in enumerate(question.ops)}
    computed = backward(question.target_numbers, question.ops)
    last = order[id(computed[-1])] if computed else len(question.ops)
    exits = [op for op in uses if op.kind in _PYTHON and order[id(op)] < last]
    under_tape = [op for op in exits if question.tape.number in op.tapes]
    first_of_target = min((order[id(op)] for op in computed if op.kind not in _READS), default=last)
    leaving = under_tape or [op for op in exits if order[id(op)] > first_of_target]
    if leaving:
        op = leaving[-1]
        return CutFound(Cause.LEFT_TENSORFLOW, op.kind, op.name, op.where, steps=_reads(found), op=op)
    return CutFound(Cause.NOT_IN_TARGET, steps=_reads(found))


def _reads(found: Slice) -> tuple[tuple[str, Line], ...]:
    first = next((op for op in found.between or found.reached if op.where), None)
    return (("source read here", first.where[0]),) if first is not None else ()


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
        return CutFound(Cause.NOT_IN_TARGET, steps=_reads(found))
    op = next((op for op in lost if op.where), lost[0])
    cause = _cause_of_loss(op, question)
    if op.kind in _READS:  # reading is never the cut: what is made of it is
        user = next((each for each in found.between if not set(op.outputs).isdisjoint(each.inputs)), None)
        op = user if user is not None and user.where[:1] == op.where[:1] else op
    steps: list[tuple[str, Line]] = []
    reads = next((op for op in found.between if op.where), None)
    if reads is not None and reads is not op:
        steps.append(("source read here", reads.where[0]))
    watch = question.tape.watch_lines.get(question.source)
    if cause is Cause.NOT_WATCHED and watch is not None:
        steps.append(("watched here, too late", watch))
    far = _back_to_floats(found, op) if cause is Cause.INTEGER or op.kind in _DISCRETE else op
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
            return _cause_of(op)
        return Cause.NOT_WATCHED  # recorded, but before the source was watched
    return Cause.WRONG_TAPE if op.tapes else Cause.OUTSIDE_TAPE


def _cause_of(op: Op) -> Cause:
    """Why an op that was recorded passes no gradient."""
    if op.kind in _STOPS:
        return Cause.STOPPED
    if op.kind in _PYTHON:
        return Cause.LEFT_TENSORFLOW
    if any(part in op.kind for part in _SAMPLES):
        return Cause.DISCRETE_SAMPLE
    if any(part in op.kind for part in _STATE):
        return Cause.STATE
    if op.is_custom:
        return Cause.CUSTOM_GRADIENT
    if op.outputs and not any(op.floats) and not any(part in op.kind for part in _DISCRETE):
        return Cause.INTEGER
    return Cause.NON_DIFFERENTIABLE


Ask = Callable[[Sequence[Any], Sequence[Any]], "list[Any] | None"]


def _asked(question: Question, found: Slice) -> CutFound | None:
    """The tape followed the whole way, so an op on it passes nothing: TensorFlow says which one."""
    if question.graph is not None:
        tensors = _askable(found) | question.source_as_asked()
        cuts = _cuts_towards(found, question.targets, _asking_in(question.graph), tensors)
        if not cuts:
            return None
        far, near = cuts[0], cuts[-1]
    else:
        having = {number for number, gradient in (question.gradients or {}).items() if gradient is not None}
        at_target = _frontier(found, having | set(question.target_numbers))
        if at_target is None:
            return None
        far, near = at_target, _first_blocking(found, at_target)
    inner = _inside(near, found, question.graphs) or near
    return CutFound(
        _cause_of(inner), inner.kind, inner.name, inner.where or near.where, far.kind, far.where, _reads(found), near
    )


def _first_blocking(found: Slice, last: Op) -> Op:
    """Eagerly a tape answers once: of the ops in the dead segment, the first of those that close every way."""
    segment = found.between[: found.between.index(last)]
    blocking = [
        op
        for op in segment
        if op.kind not in _READS and (op.kind in _PASS_NOTHING or op.is_custom or not any(op.floats))
    ]
    closed = set(map(id, blocking))
    around = [op for op in found.between if id(op) not in closed]
    if blocking and not slice_between(_source_of(found), last.inputs, around).between:
        return blocking[0]
    return last


def _cuts_towards(found: Slice, targets: Sequence[Any], ask: Ask, tensors: dict[int, Any]) -> list[Op]:
    """The cutting ops from the target back to the source, one behind the other."""
    cuts: list[Op] = []
    for _ in range(8):
        wanted = {tensor_id(target) for target in targets}
        others = [number for number in tensors if number not in wanted]
        answers = ask(targets, [tensors[number] for number in others])
        if answers is None:
            break
        having = wanted | {number for number, answer in zip(others, answers, strict=True) if answer is not None}
        op = _frontier(found, having)
        if op is None or op in cuts:
            break
        cuts.append(op)
        targets = [tensors[number] for number in op.inputs if number in found.tensors and number in tensors]
        if not targets:
            earlier = _first_loss(found, op, tensors)
            if earlier is not None:
                cuts.append(earlier)
            break
    return cuts


def _first_loss(found: Slice, until: Op, tensors: dict[int, Any]) -> Op | None:
    """Behind an integer no gradient can be asked: the op that made it from the last float tensor."""
    integers = {number for number in until.inputs if number in found.tensors}
    for op in reversed(found.between[: found.between.index(until)]):
        if integers.isdisjoint(op.outputs):
            continue
        fed = [number for number in op.inputs if number in found.tensors]
        if any(number in tensors for number in fed) or op.kind == "ReadVariableOp":
            return op
        integers.update(fed)
    return None


def _askable(found: Slice) -> dict[int, Any]:
    """The tensors in between that a gradient can be asked for, by number."""
    return {
        number: tensor
        for op in found.between[-_MOST_ASKED:]
        for number, tensor in zip(op.outputs, op.tensors, strict=False)
        if number in found.tensors and is_float(tensor.dtype) and tensor.dtype.name != "variant"
    }


def _frontier(found: Slice, having: set[int]) -> Op | None:
    """The first op between of which an output has a gradient, and no input that the source reaches has one."""
    for op in found.between:
        if op.kind in _READS or op.kind.startswith("TensorList") or having.isdisjoint(op.outputs):
            continue
        fed = found.tensors.intersection(op.inputs)
        if fed and fed.isdisjoint(having):
            return op
    return None


def inside_of_control_flow(question: Question, found: Slice) -> CutFound | None:
    """The first op with bodies through which every way leads, and none of whose bodies passes a gradient."""
    last = set(question.target_numbers)
    for op in found.between:
        bodies = _bodies(op, question.graphs)
        if not bodies or not _is_bottleneck(op, found, last):
            continue
        cuts = [_cut_in(body, shift, op, found, question.graphs, 0) for body, shift in bodies]
        if any(cut is None for cut in cuts):
            continue
        inner = next((cut for cut in cuts if isinstance(cut, Op)), op)
        return CutFound(_cause_of(inner), inner.kind, inner.name, inner.where or op.where, steps=_reads(found), op=op)
    return None


def _is_bottleneck(op: Op, found: Slice, targets: set[int]) -> bool:
    """Does nothing that the source reaches lead around this op to the targets?"""
    without = [each for each in found.between if each is not op]
    reached = slice_between(_source_of(found), targets, without)
    return not reached.between


def _source_of(found: Slice) -> int:
    made = {number for op in found.between for number in op.outputs}
    return next(
        number for op in found.between for number in op.inputs if number in found.tensors and number not in made
    )


def _inside(op: Op, found: Slice, graphs: dict[str, Any], depth: int = 0) -> Op | None:
    """The op in the body of a called function or of control flow where the cut really is."""
    if depth > _DEEPEST_BODY:
        return None
    for body, shift in _bodies(op, graphs):
        cut = _cut_in(body, shift, op, found, graphs, depth)
        if isinstance(cut, Op):
            return cut
    return None


_NO_WAY = "no way"


def _cut_in(body: Any, shift: int, op: Op, found: Slice, graphs: dict[str, Any], depth: int) -> Op | str | None:
    """The op of a body that cuts; `_NO_WAY` when nothing in it leads on; None when a gradient passes."""
    inputs = list(body.inputs)
    places = [place - shift for place, number in enumerate(op.inputs) if number in found.tensors]
    starts = [inputs[place] for place in places if 0 <= place < len(inputs)]
    outputs = list(body.outputs)
    ends = [
        outputs[place] for place, number in enumerate(op.outputs) if number in found.tensors and place < len(outputs)
    ]
    ops = [each for each in of_graph(body) if each.kind != CAPTURE]
    ends = [item for end in ends for item in _items(end)]
    inner_cut: Op | str = _NO_WAY
    for start in starts:
        inner = slice_between(tensor_id(start), [tensor_id(end) for end in ends], ops)
        if not inner.between:
            if any(tensor_id(start) == tensor_id(end) for end in ends):
                return None  # handed on as it is
            continue
        reached = [end for end in ends if tensor_id(end) in inner.tensors and _is_asked_for(end)]
        cuts = _cuts_towards(inner, reached, _asking_in(body), _askable(inner) | _as_asked(start))
        if not cuts:
            return None
        inner_cut = _inside(cuts[-1], inner, graphs, depth + 1) or cuts[-1]
    return inner_cut


def _items(end: Any) -> list[Any]:
    """What a body writes into the list of tensors that it returns: no gradient can be asked of the list itself."""
    if end.dtype.name != "variant":
        return [end]
    writer = end.op
    while writer.type == "Identity":
        writer = writer.inputs[0].op
    if writer.type in ("TensorListSetItem", "TensorListPushBack"):
        return [writer.inputs[-1] if writer.type == "TensorListPushBack" else writer.inputs[2]]
    return [end]


def _as_asked(start: Any) -> dict[int, Any]:
    return {tensor_id(start): start} if is_float(start.dtype) and start.dtype.name != "variant" else {}


def _is_asked_for(end: Any) -> bool:
    return is_float(end.dtype) and end.dtype.name not in ("variant", "resource")


def _bodies(op: Op, graphs: dict[str, Any]) -> list[tuple[Any, int]]:
    """The graphs that the op runs, each with the number of inputs of the op that the graph does not get."""
    if op.graph_op is None:
        called = re.fullmatch(r"__(?:inference|forward)_(.+)_\d+", op.kind)
        body = graphs.get(called[1]) if called else None
        return [] if body is None else [(body, 0)]
    bodies = []
    for attribute in _BODIES:
        try:
            name = op.graph_op.get_attr(attribute).name
        except (ValueError, AttributeError):
            continue
        bodies.append(name)
    with contextlib.suppress(ValueError, AttributeError):
        bodies.extend(branch.name for branch in op.graph_op.get_attr("branches"))
    shift = 1 if op.kind in ("If", "StatelessIf", "Case", "StatelessCase") else 0
    found = [body_of(op.graph_op.graph, name) for name in bodies]
    return [(body, shift) for body in found if body is not None]


def _asking_in(graph: Any) -> Ask:
    """Ask `tf.gradients` in a graph; the ops that it adds are never run."""
    import tensorflow as tf

    def ask(targets: Sequence[Any], sources: Sequence[Any]) -> list[Any] | None:
        if not targets:
            return None
        try:
            with graph.as_default():
                return list(tf.gradients(list(targets), list(sources)))
        except Exception:  # LookupError of ops without a gradient, graphs that are closed to new ops
            return None

    return ask


# Zeros and NaN that come from the numbers.


def why_zero(question: Question) -> CutFound | None:
    """The op that turns a gradient into zeros: an output has one that is not zero, no input has."""
    import numpy as np

    found = slice_between(question.source, question.target_numbers, question.ops)
    op = _where_it_turns(question, found, lambda gradient: bool(np.any(~(np.abs(gradient) <= ROUNDING))))
    if op is None:
        return None
    inner = _inside(op, found, question.graphs)
    if inner is not None:
        return CutFound(_cause_of(inner), inner.kind, inner.name, inner.where or op.where, steps=_reads(found), op=op)
    return CutFound(_zero_cause(op), op.kind, op.name, op.where, steps=_reads(found), op=op)


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
    turns = _frontier(found, good)
    if turns is None:
        return None
    cause = Cause.UNSAFE_BRANCH if verdict is Verdict.NAN else _zero_cause(turns)
    return CutFound(cause, turns.kind, turns.name, turns.where, steps=_reads(found))


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
    return CutFound(Cause.UNSAFE_BRANCH, turns.kind, turns.name, turns.where, steps=_reads(found), op=turns)


def _where_it_turns(question: Question, found: Slice, is_good: Callable[[Any], bool]) -> Op | None:
    if question.gradients is None or not found.between:
        return None
    good = set(question.target_numbers)
    for number, gradient in question.gradients.items():
        numbers = numbers_of(gradient)
        if numbers is not None and is_good(numbers):
            good.add(number)
    return _frontier(found, good)


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
