"""Where flow ends, as TensorFlow answers: gradients are asked for, tensor by tensor.

The cut is the op of which an output has a gradient and no input has one. Inside the bodies of control flow and of
called functions `tf.gradients` is asked in the same way.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from gradlint.probe.cuts import READS, CutFound, Question, cause_of, passes_nothing, source_read
from gradlint.probe.dataflow import CAPTURE, Op, Slice, is_float, of_graph, slice_between
from gradlint.probe.passing import having_gradients
from gradlint.probe.private_api import body_of, tensor_id

_MOST_ASKED = 4000
_DEEPEST_BODY = 6
_BODIES = ("body", "then_branch", "else_branch", "f")
Ask = Callable[[Sequence[Any], Sequence[Any]], "list[Any] | None"]


def why_asked(question: Question, found: Slice) -> CutFound | None:
    """The tape followed the whole way, so an op on it passes nothing: TensorFlow says which one."""
    if question.graph is not None:
        tensors = _askable(found) | question.source_as_asked()
        cuts = _cuts_towards(found, question.targets, _asking_in(question.graph), tensors)
        if not cuts:
            return None
        far, near = cuts[0], cuts[-1]
    else:
        having = {number for number, gradient in (question.gradients or {}).items() if gradient is not None}
        at_target = frontier(found, having | set(question.target_numbers))
        if at_target is None:
            return None
        far, near = at_target, _first_blocking(found, at_target)
    inner = inside(near, found, question.graphs) or near
    return CutFound(
        cause_of(inner),
        inner.kind,
        inner.name,
        inner.where or near.where,
        far.kind,
        far.where,
        source_read(found),
        near,
    )


def _first_blocking(found: Slice, last: Op) -> Op:
    """Eagerly a tape answers once: of the ops in the dead segment, the first of those that close every way."""
    segment = found.between[: found.between.index(last)]
    blocking = [
        op for op in segment if op.kind not in READS and (passes_nothing(op) or op.is_custom or not any(op.floats))
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
        having = _having(found, targets, ask, tensors)
        if having is None:
            break
        op = frontier(found, having)
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


def _having(found: Slice, targets: Sequence[Any], ask: Ask, tensors: dict[int, Any]) -> set[int] | None:
    """The numbers of the tensors that get a gradient from the targets, the targets among them."""
    wanted = {tensor_id(target) for target in targets}
    by_parts = having_gradients(found, wanted)
    if by_parts is not None:
        return by_parts
    others = [number for number in tensors if number not in wanted]
    answers = ask(targets, [tensors[number] for number in others])
    if answers is None:
        return None
    return wanted | {number for number, answer in zip(others, answers, strict=True) if answer is not None}


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


def frontier(found: Slice, having: set[int]) -> Op | None:
    """The first op between of which an output has a gradient, and no input that the source reaches has one."""
    for op in found.between:
        if op.kind in READS or op.kind.startswith("TensorList") or having.isdisjoint(op.outputs):
            continue
        fed = found.tensors.intersection(op.inputs)
        if fed and fed.isdisjoint(having):
            return op
    return None


def why_structural(question: Question) -> CutFound | None:
    """A zero that no numbers can change: in a graph a cut inside control flow gives 0.0 where eager code gives None.

    The first op with bodies through which every way leads, and none of whose bodies passes a gradient.
    """
    found = slice_between(question.source, question.target_numbers, question.ops)
    last = set(question.target_numbers)
    for op in found.between:
        bodies = _bodies(op, question.graphs)
        if not bodies or not _is_bottleneck(op, found, last):
            continue
        cuts = [_cut_in(body, shift, op, found, question.graphs, 0) for body, shift in bodies]
        if any(cut is None for cut in cuts):
            continue
        inner = next((cut for cut in cuts if isinstance(cut, Op)), op)
        return CutFound(
            cause_of(inner), inner.kind, inner.name, inner.where or op.where, steps=source_read(found), op=op
        )
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


def inside(op: Op, found: Slice, graphs: dict[str, Any], depth: int = 0) -> Op | None:
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
        inner_cut = inside(cuts[-1], inner, graphs, depth + 1) or cuts[-1]
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
