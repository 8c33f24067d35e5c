"""Which tensor was computed from which: the ops that ran eagerly and those of graphs, in one list.

`recorder.py` adds what runs eagerly, `of_graph` reads a graph of tf.function. Tensors are known by their number, a
variable by the number of its resource. `slice_between` answers which ops lie between a source and a target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradlint.probe.places import Stack, of_graph_op
from gradlint.probe.private_api import tensor_id

#: Ops through which state is written: what is read from the resource later was computed from what went in here.
_WRITES = ("Assign", "Scatter", "LookupTableInsert", "Enqueue", "TensorArrayWrite", "ResourceSparse")
#: A value that leaves for Python or NumPy: an op of ours, not of TensorFlow.
LEAVES = "(leaves TensorFlow)"
CAPTURE = "(captured by a graph)"


@dataclass(slots=True, eq=False)
class Op:
    """One op: what it read, what it made, where, and which tapes were recording."""

    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    floats: tuple[bool, ...]
    """Per output: is it of a type that gradients exist for?"""
    tapes: frozenset[int] = frozenset()
    stack: Stack = ()
    graph_op: Any = None
    tensors: tuple[Any, ...] = ()
    """The outputs themselves, while they are kept."""
    name: str = ""
    custom: bool = False
    """What `is_custom` answers from: of an op of a graph it is known once `where` was asked."""

    @property
    def where(self) -> Stack:
        """The user's lines that ran it."""
        if not self.stack and self.graph_op is not None:
            self.stack, self.custom = of_graph_op(self.graph_op)
        return self.stack

    @property
    def is_custom(self) -> bool:
        """Does it run inside a function of tf.custom_gradient?"""
        return bool(self.where) and self.custom

    @property
    def writes(self) -> bool:
        """Does it put its inputs into the resource that is its first one?"""
        return any(part in self.kind for part in _WRITES)


@dataclass(slots=True)
class Slice:
    """The ops that a source reaches, and those of them that lead on to the target."""

    reached: list[Op]
    between: list[Op]
    """In the order of running; empty when nothing that was computed from the source leads to the target."""
    tensors: set[int] = field(default_factory=set)
    """The numbers of the tensors between, the source's and the target's included."""


def forward(starts: Iterable[int], ops: Iterable[Op]) -> tuple[list[Op], set[int]]:
    """The ops that anything of `starts` reaches, and the numbers of all they make."""
    reached_tensors = set(starts)
    reached = []
    for op in ops:
        writes = op.writes
        # To write into a variable is no use of what was in it.
        if not reached_tensors.isdisjoint(op.inputs[1:] if writes else op.inputs):
            reached.append(op)
            reached_tensors.update(op.outputs)
            if writes:
                reached_tensors.add(op.inputs[0])
    return reached, reached_tensors


def slice_between(source: int, targets: Iterable[int], ops: Sequence[Op]) -> Slice:
    """What lies between the source and the targets."""
    reached, reached_tensors = forward([source], ops)
    wanted = set(targets) & reached_tensors
    tensors = set(wanted)
    between = []
    for op in reversed(reached):
        leads_on = not wanted.isdisjoint(op.outputs) or (op.writes and op.inputs and op.inputs[0] in wanted)
        if leads_on:
            between.append(op)
            fed = {number for number in op.inputs if number in reached_tensors}
            wanted |= fed
            tensors |= fed | (set(op.outputs) & wanted)
    return Slice(reached, between[::-1], tensors)


def backward(targets: Iterable[int], ops: Sequence[Op]) -> list[Op]:
    """Every op that the targets were computed with, in the order of running."""
    wanted = set(targets)
    found = []
    for op in reversed(ops):
        if not wanted.isdisjoint(op.outputs) or (op.writes and op.inputs and op.inputs[0] in wanted):
            found.append(op)
            wanted.update(op.inputs)
    return found[::-1]


def is_float(dtype: Any) -> bool:
    """Do gradients exist for tensors of this type? Resources and variants carry them too."""
    return bool(dtype.is_floating or dtype.is_complex) or dtype.name in ("resource", "variant")


def of_graph(graph: Any, tapes_at: Any = None, captures: Any = None) -> Iterator[Op]:
    """The ops of a graph of tf.function, preceded by what it captured from outside.

    `tapes_at` tells for the place of an op in the graph which tapes were recording. `captures` are those that it had at
    an earlier time: when tracing ends, variables that were arguments are no captures any more.
    """
    for outside, inside in getattr(graph, "captures", ()) if captures is None else captures:
        if hasattr(outside, "dtype"):
            yield Op(CAPTURE, (tensor_id(outside),), (tensor_id(inside),), (is_float(inside.dtype),), tensors=(inside,))
    for place, op in enumerate(graph.get_operations()):
        if op.type == "Placeholder":
            continue
        yield Op(
            op.type,
            tuple(tensor_id(tensor) for tensor in op.inputs),
            tuple(tensor_id(tensor) for tensor in op.outputs),
            tuple(is_float(tensor.dtype) for tensor in op.outputs),
            tapes_at(place) if tapes_at is not None else frozenset(),
            graph_op=op,
            tensors=tuple(op.outputs),
            name=op.name,
        )
