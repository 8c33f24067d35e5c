"""What is asked about a source that got nothing, and what is found: the op that cuts, and why it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gradlint.probe.dataflow import CAPTURE, LEAVES, Op, Slice
from gradlint.probe.places import Line, Stack
from gradlint.probe.private_api import handles_of, tensor_id
from gradlint.probe.tapes import TapeSeen
from gradlint.verdicts import Cause

_MOST_KNOWN = 16
_SAMPLES = ("Multinomial", "RandomUniformInt", "RandomPoisson", "StatelessRandomPoisson", "StatelessRandomBinomial")
_STOPS = ("StopGradient", "PreventGradient")
PYTHON = (LEAVES, "PyFunc", "PyFuncStateless", "EagerPyFunc")
_STATE = ("LookupTable", "Dequeue", "Assign", "Scatter", "TensorArray", "Iterator", "ResourceGather")
_DISCRETE = ("ArgMax", "ArgMin", "TopK", "Unique", "Bucketize", "SearchSorted", "UpperBound", "LowerBound", "Where")
#: Ops with a registered gradient that always gives None (facts/probe.md, 4e), and those that stop it.
_PASS_NOTHING = frozenset(
    ("ArgMax", "ArgMin", "Ceil", "Floor", "FloorDiv", "LoopCond", "Rint", "Round", "TruncateDiv", *_STOPS)
)
#: Reading a variable is never the cut: no gradient is asked for what is read, only for what comes of it.
READS = ("ReadVariableOp", CAPTURE, "Enter", "VariableV2")


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


def source_read(found: Slice) -> tuple[tuple[str, Line], ...]:
    """The step of a trace that tells where the source was read first."""
    first = next((op for op in found.between or found.reached if op.where), None)
    return (("source read here", first.where[0]),) if first is not None else ()


def cause_of(op: Op) -> Cause:
    """Why an op that was recorded passes no gradient."""
    if op.kind in _STOPS:
        return Cause.STOPPED
    if op.kind in PYTHON:
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


def is_discrete(op: Op) -> bool:
    """Does it return places, ranks or counts?"""
    return op.kind in _DISCRETE


def passes_nothing(op: Op) -> bool:
    """Is its registered gradient None, always?"""
    return op.kind in _PASS_NOTHING
