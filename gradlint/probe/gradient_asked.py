"""One call of `tape.gradient`, and the questions that can be asked about it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gradlint.probe.cuts import KnownCuts, Question
from gradlint.probe.dataflow import Op
from gradlint.probe.intermediates import Intermediates
from gradlint.probe.places import Stack
from gradlint.probe.private_api import tensor_id
from gradlint.probe.tapes import TapeSeen


@dataclass(slots=True)
class GradientAsked:
    """One call of `tape.gradient`, as the hub tells it to the accounts."""

    stack: Stack
    tape: TapeSeen
    targets: tuple[Any, ...]
    sources: list[Any]
    numbers: list[frozenset[int]]
    """Per source, what tells it from all others (`names.identities`)."""
    gradients: list[Any]
    names: list[str]
    made: list[Stack]
    watched: set[int]
    in_graph: bool
    in_old_graph: bool
    """In a graph of tf.compat.v1, whose numbers cannot be seen."""
    graph: Any
    has_tape: bool
    filled: bool
    read_ops: Callable[[], list[Op]]
    graphs: dict[str, Any]
    replica: Any = None
    intermediates: Intermediates | None = None
    is_gradient: bool = True
    """Not a Jacobian, whose entries are not those of the source."""
    _ops: list[Op] | None = None
    _known: dict[Any, KnownCuts] = field(default_factory=dict)

    def number(self, place: int) -> int:
        """Of the source at this place."""
        return min(self.numbers[place])

    def is_variable(self, place: int) -> bool:
        """Not a tensor."""
        return hasattr(self.sources[place], "trainable")

    def ops(self) -> list[Op]:
        """Everything that the targets can have been computed with; read when it is first needed."""
        if self._ops is None:
            self._ops = self.read_ops()
        return self._ops

    def known_cuts(self, why: Any) -> KnownCuts:
        """The cuts that were found in this call for one kind of fault."""
        if why not in self._known:
            self._known[why] = KnownCuts(self.ops(), [tensor_id(target) for target in self.targets])
        return self._known[why]

    def key(self) -> tuple[Any, ...]:
        """The same place asking for the same: variables by themselves, tensors by their number in the list."""
        at = [(line.filename, line.row) for line in self.stack[:3]]
        parts = tuple(
            self.number(place) if self.is_variable(place) else f"#{place}" for place in range(len(self.sources))
        )
        return (tuple(at), parts)

    def question(self, place: int) -> Question:
        """Why the source of this place has no gradient."""
        source = self.sources[place]
        is_variable = self.is_variable(place)
        handles = self.numbers[place]
        return Question(
            self.number(place),
            self.targets,
            self.tape,
            self.ops(),
            is_variable,
            bool(getattr(source, "trainable", False)),
            not handles.isdisjoint(self.watched)
            or not handles.isdisjoint(self.tape.watched)
            # Read by TensorFlow's C++ alone, a variable is watched and not told of.
            or (is_variable and bool(source.trainable) and self.tape.watches_variables),
            self.graphs,
            source,
            self.intermediates.by_number() if self.intermediates is not None else None,
            self.graph,
        )

    def question_of_zero(self, place: int) -> Question:
        """The same of a zero, when the run is over and the tensors that were asked for on the way are gone."""
        return Question(
            self.number(place),
            self.targets,
            self.tape,
            self.ops(),
            self.is_variable(place),
            True,
            True,
            self.graphs,
        )
