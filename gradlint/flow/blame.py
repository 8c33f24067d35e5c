"""Blame: why a source is starved: the first cut in the order of running, its place and its trace."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from gradlint.flow.asking import Asked, SourceAsked
from gradlint.flow.cuts import DEAD_ENDS, feeds_trained_layers, in_graph, is_straight_through, raised, verdict_of
from gradlint.flow.events import Cut, Making, Moment, TapeName
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Tape, Variable
from gradlint.flow.places import Places
from gradlint.flow.reach import (
    Reach,
    WayStep,
    any_way,
    covers,
    is_other_network,
    is_plain_loss,
    reach,
    touches,
    way_between,
)
from gradlint.flow.rebinding import descends
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.flow.ways import (
    creation,
    cut_edge,
    first_cut,
    is_assembling,
    is_forward_pass,
    is_reduction,
    last_outside,
    making_of,
    moment_of,
    origin_of,
    within,
)
from gradlint.ops import table as ops
from gradlint.rule import Step, Trace
from gradlint.verdicts import ZERO_CAUSES, Cause, Verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one way gives one source."""

    asked: Asked
    source: SourceAsked
    verdict: Verdict | None
    cut: Cut | None = None
    trace: Trace = ()
    unknown: Value | None = None
    because: str = ""


def _is_forward_outside(cut: Cut) -> bool:
    return cut.cause is Cause.OUTSIDE_TAPE and cut.making is Making.FORWARD


class Blame:
    """Finds the cut of a starved source, and words its trace."""

    def __init__(self, it: Interpreter, places: Places) -> None:
        self.it = it
        self.places = places

    def all_elsewhere(self, asked: Asked, bits: int) -> bool:
        """Whether every target was surely made where the tape was not there to record it."""
        tape = asked.tapes[-1][0]
        return bool(asked.targets) and all(self.elsewhere(target, tape, bits) is not None for target in asked.targets)

    def elsewhere(self, target: Value, tape: Tape, bits: int) -> Value | None:
        """The value to blame when the target was made elsewhere; a target is no variable, so unknowns count too."""
        ways = alternatives(target, 16)
        found: Value | None = None
        for way in ways or ():
            origin = origin_of(way)
            if way.kind in (Kind.LITERAL, Kind.PLAIN, Kind.CONTAINER) or origin.possible & bits or origin.node is None:
                return None
            if way.is_opaque:
                written = (clock for key, clock in self.it.written_at.items() if key[0] == -origin.serial - 1)
                changed = any(within(clock, tape) for clock in (*self.it.havocs, *written))
                early = origin.serial < tape.serial and not changed
                if not early and not (origin.how is How.OPAQUE_CALL and origin.is_computed and way is origin):
                    return None
                if moment_of(origin, tape) is Moment.UNDER:
                    return None
            elif way.how not in (How.OPERATION, How.GRADIENT) or moment_of(way, tape) is Moment.UNDER:
                return None
            found = origin
        return found

    def is_beside(self, outcome: Outcome, bits: int, found: Reach) -> bool:
        """Whether the source's network only made constants for the loss of another one: labels, a baseline.

        That is where such a network belongs; then the wrong variables are asked for (a DQN's target network).
        """
        cut, source = outcome.cut, outcome.source
        if cut is None or cut.cause is not Cause.OUTSIDE_TAPE or cut.is_target or cut.making is not Making.FORWARD:
            return False
        asked_for: frozenset[int] = frozenset().union(*(each.members for each in outcome.asked.sources))
        if source.value.kind is not Kind.VARIABLES or not found.members or found.members & asked_for:
            return False
        return not any(way_between(self.it, [call], source, dead_ends=False) for call in found.calls[:16])

    def judged_by_names(self, asked: Asked, source: SourceAsked, bits: int) -> Outcome | None:
        """The model's output is cut off or made outside, and only what is named like a loss follows: mostly `None`."""
        if source.value.kind is not Kind.VARIABLES:
            return None
        callees = self._fed_by_cut(asked, source)
        trusting = reach(
            self.it,
            asked.targets,
            bits,
            trusted=lambda call: is_plain_loss(call, source) or (bool(call.inputs) and call.inputs[0] in callees),
        )
        if touches(trusting, source) or covers(self.it, trusting, source, bits) is not None:
            return None
        outcome = self.starved_outcome(asked, source, bits, touched=False)
        cut = outcome.cut
        if cut is None or not (cut.cause in DEAD_ENDS or _is_forward_outside(cut)):
            return None
        return replace(outcome, cut=replace(cut, assumed=True))

    def _fed_by_cut(self, asked: Asked, source: SourceAsked) -> list[Value]:
        """Other networks, by their names, that are given what a cut left of this one: they do not hold it as well."""
        way = any_way(self.it, asked.targets, source)
        cut = next((index for index, step in enumerate(way) if step.cut in DEAD_ENDS), None)
        after = way[cut + 1 :] if cut is not None else []
        return [step.value.inputs[0] for step in after if is_other_network(step.value, source)]

    def starved_outcome(self, asked: Asked, source: SourceAsked, bits: int, touched: bool) -> Outcome:
        tape = asked.tapes[-1][0]
        way = way_between(self.it, asked.targets, source, dead_ends=False)
        if not way:
            way = any_way(self.it, asked.targets, source)
        if touched or (way and not source.tracked & bits):
            watchable = cut_edge(way) is None
            if watchable:
                return self.unwatched(asked, source, way)
        if way:
            cut_at, cause = first_cut(way, bits)
            if cut_at is not None and cause in ZERO_CAUSES:
                if moment_of(way[cut_at].value, tape) in (Moment.BEFORE, Moment.AFTER):
                    cause = None  # what is not recorded gives None, whatever its derivative is
            if cut_at is not None:
                return self.cut_on_way(asked, source, way, cut_at, cause, bits)
        return self.not_in_target(asked, source, tape, bits)

    def unwatched(self, asked: Asked, source: SourceAsked, way: list[WayStep]) -> Outcome:
        node = asked.node
        variable = source.value.ref
        rebound = self._rebound_from(asked, source)
        if rebound is not None:
            cut = self.plain_cut(asked, Cause.REBOUND, self.place_node(source.value, asked.tapes[-1][0]))
            return Outcome(asked, source, Verdict.NONE, cut, self.trace(asked, source.text, way, None))
        cause = Cause.INTEGER if isinstance(variable, Variable) and variable.integer else Cause.NOT_WATCHED
        if isinstance(variable, Variable) and variable.node is not None:
            if variable.trainable is False or cause is Cause.INTEGER:
                behind = variable.owner if isinstance(variable.owner, Variable) else variable
                node = creation(self.it.value_of.get(behind.id, source.value))
        cut = self.plain_cut(asked, cause, node)
        return Outcome(asked, source, Verdict.NONE, cut, self.trace(asked, source.text, way, None))

    def _rebound_from(self, asked: Asked, source: SourceAsked) -> Value | None:
        """The variable that stood at this place of the sources the last time, when a step of descent replaced it."""
        if source.value.how is not How.OPERATION or source.value.node is None:
            return None
        position = asked.sources.index(source)
        for other in self.it.asked:
            if other.node is not asked.node or other.serial >= asked.serial:
                continue
            same = [each for each in other.sources if each.text == source.text]
            same += other.sources[position : position + 1]
            for each in same:
                if each.value.kind is Kind.VARIABLE and descends(source.value, [each.value]):
                    found: Value = each.value
                    return found
        return None

    def cut_on_way(
        self, asked: Asked, source: SourceAsked, way: list[WayStep], at: int, cause: Cause | None, bits: int
    ) -> Outcome:
        tape = asked.tapes[-1][0]
        value = way[at].value
        moment = moment_of(value, tape)
        last = last_outside(way[at:], tape)
        is_target = last is way[-1].value and moment is not Moment.UNDER
        making, other, node = making_of(value), None, asked.node
        if cause is not None:
            return self.dead_end(asked, source, way, at, cause)
        if moment is Moment.UNDER and value.how is not How.OPAQUE_CALL:
            cause = Cause.NOT_WATCHED
            node = self.it.watch_nodes.get((source.value.serial, tape.id), node)
        else:
            cause, other = self.recording_cause(way[at:], tape, bits)
            if moment is Moment.RESET:
                cause, other = Cause.OUTSIDE_TAPE, None
            if last.how is How.GRADIENT and moment is not Moment.PAUSED:
                moment, node, cause = Moment.GRADIENT, self.place_node(last, tape), Cause.OUTSIDE_TAPE
            elif moment is Moment.PAUSED:
                node = value.node or node
            elif cause is Cause.OUTSIDE_TAPE:
                shown = value if making is Making.FORWARD and not is_target else last
                node = self.place_node(shown, tape, last)
                if moment is Moment.BEFORE and (
                    is_reduction(last)
                    or last.op is ops.TRACED
                    or is_forward_pass(last)
                    or (node is not last.node and last.serial not in self.it.stored)
                ):
                    making = Making.FORWARD  # a loss, or what a helper made of it, rather than a derived weight
                    node = self.place_node(last, tape)
        assumed = value.assumed and moment is Moment.AFTER and value is last
        assumed = assumed or any(step.value.assumed for step in way if step.value.how is How.OPERATION)
        cut = Cut(
            cause,
            self.places.place(node),
            self.places.code(node),
            is_target,
            moment,
            making,
            other,
            assumed,
            last.serial in self.it.held,
        )
        return Outcome(asked, source, Verdict.NONE, cut, self.trace(asked, source.text, way, at))

    def dead_end(self, asked: Asked, source: SourceAsked, way: list[WayStep], at: int, cause: Cause) -> Outcome:
        """No gradient passes an operation on the way, whatever recorded it: it is told where it stands."""
        value = way[at].value
        raises = raised(value, cause, asked)
        verdict = verdict_of(way, at, raises)
        node = value.node or asked.node
        cut = Cut(
            cause,
            self.places.place(node),
            self.places.code(node),
            value is way[-1].value,
            Moment.UNDER,
            Making.OPERATION,
            assumed=any(step.value.assumed for step in way if step.value.how is How.OPERATION),
            symbol=value.label,
            verdict=verdict,
            raises=raises,
            in_graph=bool(raises) and in_graph(value),
            feeds_trained_layers=feeds_trained_layers(way, at),
            straight_through=cause is Cause.STOPPED and is_straight_through(value),
        )
        return Outcome(asked, source, Verdict.NONE, cut, self.trace(asked, source.text, way, at))

    def recording_cause(self, steps: list[WayStep], tape: Tape, bits: int) -> tuple[Cause, str | None]:
        """Whether another tape recorded what this one did not, or none that matters."""
        recorder = self.recorder(steps, bits)
        if recorder is None:
            return Cause.OUTSIDE_TAPE, None
        if recorder.node is tape.node and any(
            step.value.serial in self.it.held
            or (not is_assembling(step.value) and moment_of(step.value, tape) is Moment.UNDER)
            for step in steps
        ):
            # The same `with` in an earlier iteration: what it recorded was kept, and is stale now.
            return Cause.OUTSIDE_TAPE, None
        return Cause.WRONG_TAPE, recorder.name

    def recorder(self, steps: list[WayStep], bits: int) -> Tape | None:
        """Another tape that recorded the rest of the way."""
        for step in steps:
            if step.value.how in (How.OPERATION, How.GRADIENT, How.OPAQUE_CALL) and step.value.possible & ~bits:
                mask = step.value.possible & ~bits
                index = (mask & -mask).bit_length() - 1
                if 0 <= index < len(self.it.tapes):
                    return self.it.tapes[index]
            if step.value.how in (How.OPERATION, How.GRADIENT):
                return None
        return None

    def not_in_target(self, asked: Asked, source: SourceAsked, tape: Tape, bits: int) -> Outcome:
        target = asked.targets[0] if asked.targets else None
        if target is not None:
            elsewhere = self.elsewhere(target, tape, bits)
            if elsewhere is not None:
                cause, other = self.recording_cause([WayStep(elsewhere, None)], tape, bits)
                node = asked.node if cause is Cause.WRONG_TAPE else self.place_node(elsewhere, tape)
                if isinstance(node, ast.arg) and asked.target_node is not None:
                    node = asked.target_node
                moment = moment_of(elsewhere, tape)
                assumed = elsewhere.assumed and moment is Moment.AFTER
                place, code = self.places.place(node), self.places.code(node)
                cut = Cut(cause, place, code, True, moment, making_of(elsewhere), other, assumed)
                return Outcome(
                    asked, source, Verdict.NONE, cut, self.trace(asked, source.text, [WayStep(elsewhere, None)], 0)
                )
        cut = self.plain_cut(asked, Cause.NOT_IN_TARGET, asked.node)
        return Outcome(asked, source, Verdict.NONE, cut, self.trace(asked, source.text, [], None))

    def plain_cut(self, asked: Asked, cause: Cause, node: ast.AST) -> Cut:
        """A cut that is no place on a way: the gradient call, or where a source was made."""
        place, code = self.places.place(node), self.places.code(node)
        return Cut(cause, place, code, False, Moment.UNDER, Making.OPERATION, None, self._assumes(asked))

    def _assumes(self, asked: Asked) -> bool:
        """Whether something that the targets were computed from was taken for a tensor by its looks."""
        seen: set[int] = set()
        stack = list(asked.targets)
        while stack and len(seen) < 500:
            value = stack.pop()
            if value.serial in seen:
                continue
            if value.assumed and value.how is How.OPERATION:
                return True
            seen.add(value.serial)
            stack.extend(value.inputs)
        return False

    def place_node(self, value: Value, tape: Tape, kept: Value | None = None) -> ast.AST:
        """Where to change: kept values where they were kept, returned ones at the call in the tape's frame."""
        assert value.node is not None
        frame = value.frame
        seen_from = self.it.stored.get((kept or value).serial)
        chain = frame.callers() if frame is not None else []
        # What the tape's own function hands out is kept by a caller too, and later: the place to change is inside.
        handed_out = tape.frame in chain and seen_from is not None and seen_from in (tape.frame or seen_from).callers()
        if seen_from is None or handed_out:
            seen_from = tape.frame
        if seen_from is None or frame is None or frame is seen_from:
            return value.node
        if seen_from in chain:
            below = chain[chain.index(seen_from) - 1]
            return below.call_node if below.call_node is not None else value.node
        return value.node

    def trace(self, asked: Asked, source: str, way: list[WayStep], at: int | None) -> Trace:
        steps: list[tuple[int, str, ast.AST | None]] = []
        tape = asked.tapes[-1][0] if asked.tapes else None
        if way and at != 0:
            first = way[0].value
            if first.kind is Kind.VARIABLE and first.ref.exact:
                steps.append((first.serial, f"`{source}` made here", first.node))
            elif first.how is not How.PARAMETER and first.how is not How.PART:
                read = way[1].value if len(way) > 1 and first.kind is Kind.VARIABLES else first
                steps.append((first.serial, f"`{source}` read here", read.node))
        if at is not None and way:
            value = way[at].value
            if value.node is not None:
                steps.append((value.serial, f"{self.short(value.node)} computed here", value.node))
            if at + 1 < len(way):
                after = next(
                    (s.value for s in way[at + 1 :] if s.value.node is not None and s.value.node is not value.node),
                    None,
                )
                if after is not None and after.node is not None:
                    steps.append((after.serial, f"{self.short(after.node)} computed from it here", after.node))
        if tape is not None and not tape.implicit:
            steps.append((tape.serial, f"`{tape.name}` opened here", tape.node))
        steps.append((asked.serial, f"{asked.asked} asked here", asked.node))
        ordered = sorted(steps, key=lambda step: step[0])
        made: list[Step] = []
        for _, message, node in ordered:
            if node is None:
                continue
            place = self.places.place(node)
            if not made or made[-1].place != place:
                made.append(Step(message, place))
        return tuple(made)

    def short(self, node: ast.AST | None) -> str:
        code = self.places.code(node) if node is not None else ""
        return f"`{code}`" if code and len(code) <= 60 and "\n" not in code else "the value"

    def tape_name(self, tape: Tape) -> TapeName:
        return TapeName(tape.name, self.places.place(tape.node), tape.implicit)
