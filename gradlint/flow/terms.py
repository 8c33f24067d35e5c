"""Terms: summands of a target that depend on the sources and give them no gradient, while others do."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from gradlint.flow.asking import Asked, SourceAsked
from gradlint.flow.blame import Blame, Outcome
from gradlint.flow.cuts import OF_TERMS, feeds_trained_layers
from gradlint.flow.events import Cut, Moment
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.loss_functions import parameter_of, reads_of
from gradlint.flow.objects import Function, Variable
from gradlint.flow.reach import Reach, WayStep, covers, reach, touches, way_between
from gradlint.flow.values import TRUE, How, Kind, Value, is_literal
from gradlint.flow.ways import (
    FACTORS,
    behind_scale,
    first_cut,
    is_reduction,
    last_outside,
    making_of,
    moment_of,
    summands,
)
from gradlint.ops import table as ops
from gradlint.verdicts import Cause, Verdict

#: Of an outcome: why a term does not reach a source.
DRAWN = "drawn by NumPy"
_SAMPLERS = frozenset("normal standard_normal randn multivariate_normal laplace uniform lognormal logistic".split())
_COUNTS = ops.COUNTS | {ops.IN_TOP_K, ops.ARGMAX}


@dataclass(frozen=True, slots=True)
class Terms:
    """Looks at the summands of the target of one gradient call."""

    it: Interpreter
    blame: Blame
    asked: Asked
    bits: int

    def starved(self, flowing: Collection[str], told: Collection[str]) -> Iterator[list[Outcome]]:
        """Per starved summand the sources that it should move.

        `flowing` are those that other summands do move, `told` those that get nothing at all and were told so.
        """
        targets = self.asked.targets
        terms = summands(targets[0]) if len(targets) == 1 and flowing else []
        if len(terms) < 2:
            return
        whole = reach(self.it, targets, self.bits)
        numbers_only = not any(self._is_stopped(term) for term in terms)
        for term in terms:
            found = reach(self.it, [term], self.bits)
            sources = [
                source
                for source in self.asked.sources
                if source.text in flowing
                and not touches(found, source)
                and touches(whole, source)
                and covers(self.it, found, source, self.bits) is None
            ]
            drawn = [outcome for source in self.asked.sources if (outcome := self._drawn(term, source, found, whole))]
            if drawn:
                yield drawn
            outside = [outcome for source in sources if (outcome := self._outside(term, source)) is not None]
            stopped = [outcome for source in sources if (outcome := self._stopped(term, source)) is not None]
            if outside:
                yield outside
            elif stopped and self._trains_nothing(found):
                yield stopped
            elif numbers_only and (found.is_closed or self._holds_copies_alone(found)):
                cut = [outcome for source in self.asked.sources if (outcome := self._cut(term, source)) is not None]
                if cut and not any(outcome.source.text in told for outcome in cut):
                    yield cut

    def ignoring(self) -> Iterator[tuple[Function, ast.arg]]:
        """Functions that compute a summand of numbers alone, with the parameter that was given what is trained."""
        targets = self.asked.targets
        terms = summands(targets[0]) if len(targets) == 1 else []
        for term in terms if len(terms) > 1 else ():
            factor = behind_scale(term, FACTORS)
            computed = [each for each in (factor, *factor.inputs) if each.how is How.OPERATION]
            frame = next((each.frame for each in computed if each.frame is not self.asked.frame), None)
            if frame is None or frame.function is None or frame.id == self.asked.frame.id:
                continue
            found = reach(self.it, [term], self.bits)
            if any(touches(found, each) or covers(self.it, found, each, self.bits) for each in self.asked.sources):
                continue
            yield from self._ignored_by(frame.function, frame.id)

    def _ignored_by(self, function: Function, frame: int) -> Iterator[tuple[Function, ast.arg]]:
        """Parameters that are given what was predicted and are not read, where others are: else it is an empty hook."""
        given = {name: self.it.store.get((frame, name)) for name in sorted(self.it.names_of(function.node).local)}
        tensors = {name: each for name, each in given.items() if each is not None and each.kind is Kind.TENSOR}
        reads = {name: reads_of(function.node, name) for name in tensors if parameter_of(function, name) is not None}
        if None in reads.values() or not any(reads.values()):
            return
        for name, found in reads.items():
            parameter, held = parameter_of(function, name), reach(self.it, [tensors[name]], self.bits)
            if not found and parameter is not None and any(touches(held, each) for each in self.asked.sources):
                yield function, parameter

    def _holds_copies_alone(self, found: Reach) -> bool:
        """Whether all that could be a source are variables made under the tape, which are trained on their own."""
        if found.opaque or found.loose or found.symbolic is not None:
            return False
        since = self.asked.tapes[-1][0].serial
        return all(
            isinstance(self.it.objects.get(member), Variable)
            and (made := self.it.value_of.get(member)) is not None
            and made.serial > since
            for member in found.members
        )

    @staticmethod
    def _is_stopped(term: Value) -> bool:
        return any(cause is Cause.STOPPED for _, cause in term.dead) or any(
            cause is Cause.STOPPED for each in term.inputs for _, cause in each.dead
        )

    def _outside(self, term: Value, source: SourceAsked) -> Outcome | None:
        """The term was computed from the source where no tape recorded."""
        tape = self.asked.tapes[-1][0]
        way = way_between(self.it, [term], source, dead_ends=False)
        at, cause = first_cut(way, self.bits) if way else (None, None)
        if at is None or cause is not None:
            return None
        value = way[at].value
        moment = moment_of(value, tape)
        if moment is Moment.UNDER or any(step.value.label == "loop" for step in way):
            return None
        last = last_outside(way[at:], tape)
        if last.possible:
            return None  # recorded by another tape: a running total, not a forgotten term
        node = self.blame.place_node(last, tape)
        places = self.blame.places
        cut = Cut(Cause.OUTSIDE_TAPE, places.place(node), places.code(node), False, moment, making_of(value))
        trace = self.blame.trace(self.asked, source.text, way, at)
        return Outcome(self.asked, source, Verdict.NONE, cut, trace)

    def _drawn(self, term: Value, source: SourceAsked, found: Reach, whole: Reach) -> Outcome | None:
        """A part of a model that computes what NumPy draws from, for layers behind it: this term trains those alone.

        Other terms do train the part, and a sample that nothing is computed from (an action, a label) is meant so.
        """
        if not source.within or touches(found, source) or not touches(whole, source):
            return None
        if covers(self.it, found, source, self.bits) is not None:
            return None
        way = way_between(self.it, [term], source, dead_ends=True, shapes=False)
        at = next((index for index, step in enumerate(way) if step.cut is Cause.LEFT_TENSORFLOW), None)
        if at is None or not feeds_trained_layers(way, at) or not any(_draws(step.value) for step in way[at:]):
            return None
        return replace(self.blame.dead_end(self.asked, source, way, at, Cause.LEFT_TENSORFLOW), because=DRAWN)

    def _trains_nothing(self, found: Reach) -> bool:
        """Whether nothing is left of what a term depends on but numbers and frozen networks."""
        return all(is_literal(self.it.store.get((member, "trainable")) or TRUE, False) for member in found.members)

    def _stopped(self, term: Value, source: SourceAsked) -> Outcome | None:
        """What is trained comes to a comparison through `stop_gradient`, and the other side is not trained either.

        A term that is stopped as a whole is meant so.
        """
        way = way_between(self.it, [term], source, dead_ends=True, shapes=False)
        at = max((index for index, step in enumerate(way) if step.cut is not None), default=None)
        if at is None or way[at].cut is not Cause.STOPPED:
            return None
        if moment_of(way[at].value, self.asked.tapes[-1][0]) is not Moment.UNDER or self._holds_summand(way, term):
            return None
        if not any(is_reduction(step.value) for step in way[at + 1 :]):
            return None
        pairs = zip(way[at:], way[at + 1 :], strict=False)
        if not any(_takes_another(later.value, earlier.value) for earlier, later in pairs):
            return None
        return self.blame.dead_end(self.asked, source, way, at, Cause.STOPPED)

    def _holds_summand(self, way: list[WayStep], term: Value) -> bool:
        """Whether another summand lies on the way, as in a straight-through estimator."""
        siblings = {each.serial for each in summands(self.asked.targets[0]) if each is not term}
        return any(step.value.serial in siblings for step in way)

    def _cut(self, term: Value, source: SourceAsked) -> Outcome | None:
        """Under the tape, but an operation on every way into the term passes no gradient: it is a mere number."""
        if term.kind is Kind.LITERAL:
            return None
        way = way_between(self.it, [term], source, dead_ends=True, shapes=False)
        # The last cut: what is done before may well be meant (an action is sampled, and then counted).
        at = max((index for index, step in enumerate(way) if step.cut is not None), default=None)
        cause = way[at].cut if at is not None else None
        is_copy = cause is Cause.STATE and at is not None and way[at].value.kind is Kind.VARIABLE
        if at is None or cause is None or not (cause in OF_TERMS or is_copy):
            return None
        if moment_of(way[at].value, self.asked.tapes[-1][0]) is not Moment.UNDER:
            return None  # last step's number: a schedule, a baseline
        if cause in (Cause.NON_DIFFERENTIABLE, Cause.SATURATED) and not any(_reduces(step.value) for step in way[at:]):
            return None  # `x - tf.round(x)`, `mask * a + (1 - mask) * b`: constant nearly everywhere, and meant so
        if self._holds_summand(way, term):
            return None
        return self.blame.dead_end(self.asked, source, way, at, cause)


def _takes_another(value: Value, known: Value) -> bool:
    """Whether an operation takes in another tensor beside the known one."""
    return any(each.kind is Kind.TENSOR and each is not known for each in value.inputs)


def _draws(value: Value) -> bool:
    """Whether NumPy draws real numbers here, from numbers that it is given."""
    if value.label.startswith("np.random."):
        return value.label.rpartition(".")[2] in _SAMPLERS
    function = value.given.get(0, "func") if value.op is ops.NUMPY_FUNCTION and value.given is not None else None
    if function is None or not isinstance(function.ref, Function):
        return False
    return any(isinstance(each, ast.Attribute) and each.attr in _SAMPLERS for each in ast.walk(function.ref.node))


def _reduces(value: Value) -> bool:
    """Whether an operation makes one number of many: a count, a rate, an error."""
    return is_reduction(value) or value.op in _COUNTS


def bits_of(asked: Asked) -> int:
    """Mask of the tapes that are asked."""
    bits = 0
    for _, bit in asked.tapes:
        bits |= 1 << bit
    return bits
