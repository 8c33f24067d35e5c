"""Gradients: what each gradient call gives each source, and the events and decisions that follow.

Asked questions are answered when the run is over, because only then every loop is closed. One
question is met on several ways (iterations, call sites): it is a fault when one way that is surely
taken gives `None`, or when every way does.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from gradlint.flow import events
from gradlint.flow.events import Cut, Making, Moment, Source, SourceSort, SourcesStarved, TapeName, TermStarved
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Tape, Variable
from gradlint.flow.places import Places
from gradlint.flow.reach import Reach, WayStep, covers, reach, surely_flows, touches, way_between
from gradlint.flow.scopes import Frame
from gradlint.flow.tapes import Asked, SourceAsked
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.flow_report import GradientDecision, SourceDecision
from gradlint.rule import Place, Step, Trace
from gradlint.verdicts import Cause, Verdict

#: Labels of operations that only put a loss together.
_ASSEMBLING = frozenset(
    {"+", "-", "*", "/", "[]", "sum", "join", "tf.add_n", "tf.reduce_mean", "tf.reduce_sum", "tf.stack", "tf.add",
     "tf.math.add_n", "tf.identity", "tf.convert_to_tensor", "tf.cast", "gradient"}
)  # fmt: skip
_REDUCTIONS = frozenset({"mean", "sum", "add_n", "l2_loss", "global_norm"})
_SUMS = frozenset({"+", "sum", "tf.add", "tf.math.add", "tf.add_n", "tf.math.add_n", "keras.ops.add"})


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


class Gradients:
    """Answers the questions of one run."""

    def __init__(self, it: Interpreter, places: Places) -> None:
        self.it = it
        self.places = places
        self.events: list[object] = []
        self.decisions: list[GradientDecision] = []

    def conclude(self) -> None:
        """Fill `events` and `decisions`."""
        by_call: dict[ast.AST, list[Asked]] = {}
        for asked in self.it.asked:
            by_call.setdefault(asked.node, []).append(asked)
        for node, every in sorted(by_call.items(), key=lambda item: _order(item[0])):
            self._conclude_call(node, every)
        self._conclude_noted()

    # -- one gradient call ---------------------------------------------------------------------

    def _conclude_call(self, node: ast.AST, every: list[Asked]) -> None:
        outcomes: dict[str, list[Outcome]] = {}
        for asked in every[:32]:
            for outcome in self._outcomes(asked):
                outcomes.setdefault(outcome.source.text, []).append(outcome)
        decided: list[SourceDecision] = []
        starved: dict[tuple[Place, Cause], list[Outcome]] = {}
        whole = {text for text, found in outcomes.items() if not found[0].source.within and _fault(found) is not None}
        for text, found in outcomes.items():
            fault = _fault(found)
            within = found[0].source.within
            if within:
                # A part of a set: told only where it starves alone, and not for what the loss leaves out.
                if within in whole or fault is None or fault.cut is None:
                    continue
                if fault.cut.cause not in (Cause.OUTSIDE_TAPE, Cause.WRONG_TAPE):
                    continue
            if fault is not None and fault.cut is not None:
                starved.setdefault((fault.cut.place, fault.cut.cause), []).append(fault)
                decided.append(SourceDecision(text, Verdict.NONE, fault.cut.cause, fault.cut.place))
                continue
            decided.append(self._decision(text, found))
        for group in starved.values():
            self.events.append(self._starved(group))
        first = every[0]
        self.decisions.append(
            GradientDecision(
                self.places.place(node),
                first.asked,
                "" if first.frame is self.it.module else first.frame.name,
                self.places.code(first.target_node) if first.target_node is not None else "the loss",
                tuple(decided),
            )
        )
        for asked in every[:8]:
            if asked.certain:
                self._terms(asked, {text for text, found in outcomes.items() if _fault(found) is None})

    def _decision(self, text: str, found: list[Outcome]) -> SourceDecision:
        unknown = next((each for each in found if each.verdict is None), None)
        if unknown is not None:
            value = unknown.unknown
            place = self.places.place(value.node) if value is not None and value.node is not None else None
            if place is None:
                place = self.places.place(unknown.asked.node)
            return SourceDecision(text, None, None, place, unknown.because)
        if all(each.verdict is Verdict.FLOWS for each in found):
            return SourceDecision(text, Verdict.FLOWS)
        return SourceDecision(text, None, None, self.places.place(found[0].asked.node), "it differs from way to way")

    def _outcomes(self, asked: Asked) -> list[Outcome]:
        if not asked.tapes:
            because = asked.because or "the tape cannot be told"
            return [Outcome(asked, source, None, because=because) for source in asked.sources]
        bits = 0
        for _, bit in asked.tapes:
            bits |= 1 << bit
        found = reach(self.it, asked.targets, bits)
        return [self._outcome(asked, source, bits, found) for source in asked.sources]

    def _outcome(self, asked: Asked, source: SourceAsked, bits: int, found: Reach) -> Outcome:
        value = source.value
        if value.kind is Kind.SYMBOLIC:
            cut = self._plain_cut(asked, Cause.UNSUPPORTED, asked.node)
            return Outcome(asked, source, Verdict.NONE, cut)
        touched = touches(found, source)
        if touched and source.tracked & bits:
            if any(surely_flows(self.it, target, source, bits) for target in asked.targets):
                return Outcome(asked, source, Verdict.FLOWS)
            because = "recorded on some ways only"
            unknown = next(iter(found.opaque), None) or next(iter(found.loose), None)
            if unknown is not None and unknown.because:
                because = unknown.because
            return Outcome(asked, source, None, unknown=unknown, because=because)
        if touched and _is_itself(asked, source):
            return Outcome(asked, source, Verdict.FLOWS)
        unseen = not source.tracked & bits and not self._tape_escaped(asked)
        if not touched and unseen and not self._all_elsewhere(asked, bits):
            covering = covers(self.it, found, source, bits)
            if covering is not None:
                # Whatever unknown code does with it: a tensor that the tape does not watch gets None.
                return self._unwatched(asked, source, [])
        if not touched and not self._all_elsewhere(asked, bits):
            covering = covers(self.it, found, source, bits)
            if covering is not None:
                outside = self._forward_outside(asked, source, bits, found)
                if outside is not None:
                    return outside
                return Outcome(
                    asked, source, None, unknown=covering, because=covering.because or "a value that is not known"
                )
        return self._starved_outcome(asked, source, bits, touched)

    def _tape_escaped(self, asked: Asked) -> bool:
        """Whether code that cannot be seen may have told the tape to watch something."""
        return any(tape.escaped_at is not None and tape.escaped_at <= asked.serial for tape, _ in asked.tapes)

    def _all_elsewhere(self, asked: Asked, bits: int) -> bool:
        """Whether every target was surely made where the tape was not there to record it."""
        tape = asked.tapes[-1][0]
        return bool(asked.targets) and all(self._elsewhere(target, tape, bits) is not None for target in asked.targets)

    def _elsewhere(self, target: Value, tape: Tape, bits: int) -> Value | None:
        """The value to blame when the target was made elsewhere; a target is no variable, so unknowns count too."""
        ways = alternatives(target, 16)
        found: Value | None = None
        for way in ways or ():
            origin = _origin(way)
            if way.kind in (Kind.LITERAL, Kind.PLAIN, Kind.CONTAINER) or origin.possible & bits or origin.node is None:
                return None
            if way.is_opaque:
                early = origin.serial < tape.serial and not any(_within(clock, tape) for clock in self.it.havocs)
                if not early and not (origin.how is How.OPAQUE_CALL and origin.label == "call" and way is origin):
                    return None
                if _moment(origin, tape) is Moment.UNDER:
                    return None
            elif way.how not in (How.OPERATION, How.GRADIENT) or _moment(way, tape) is Moment.UNDER:
                return None
            found = origin
        return found

    def _forward_outside(self, asked: Asked, source: SourceAsked, bits: int, found: Reach) -> Outcome | None:
        """The model was called outside the tape and only what is named like a loss runs inside: nearly always `None`."""
        if source.value.kind is not Kind.VARIABLES or covers(self.it, found, source, bits, trust_losses=True) is not None:
            return None
        outcome = self._starved_outcome(asked, source, bits, touched=False)
        cut = outcome.cut
        if cut is None or cut.cause is not Cause.OUTSIDE_TAPE or cut.making is not Making.FORWARD:
            return None
        return replace(outcome, cut=replace(cut, assumed=True))

    # -- why ------------------------------------------------------------------------------------

    def _starved_outcome(self, asked: Asked, source: SourceAsked, bits: int, touched: bool) -> Outcome:
        tape = asked.tapes[-1][0]
        way = way_between(self.it, asked.targets, source, dead_ends=False)
        if not way:
            way = way_between(self.it, asked.targets, source, dead_ends=True)
        if touched or (way and not source.tracked & bits):
            watchable = _cut_edge(way) is None
            if watchable:
                return self._unwatched(asked, source, way)
        if way:
            cut_at, cause = _first_cut(way, bits)
            if cut_at is not None:
                return self._cut_on_way(asked, source, way, cut_at, cause, bits)
        return self._not_in_target(asked, source, tape, bits)

    def _unwatched(self, asked: Asked, source: SourceAsked, way: list[WayStep]) -> Outcome:
        node = asked.node
        variable = source.value.ref
        if isinstance(variable, Variable) and variable.trainable is False and variable.node is not None:
            node = _creation(source.value)
        cut = self._plain_cut(asked, Cause.NOT_WATCHED, node)
        return Outcome(asked, source, Verdict.NONE, cut, self._trace(asked, way, None))

    def _cut_on_way(
        self, asked: Asked, source: SourceAsked, way: list[WayStep], at: int, cause: Cause | None, bits: int
    ) -> Outcome:
        tape = asked.tapes[-1][0]
        value = way[at].value
        moment = _moment(value, tape)
        last = _last_outside(way[at:], tape)
        is_target = last is way[-1].value and moment is not Moment.UNDER
        making, other, node = _making(value), None, asked.node
        if cause is not None:
            node = self._place_node(value, tape)
        elif moment is Moment.UNDER and value.how is not How.OPAQUE_CALL:
            cause = Cause.NOT_WATCHED
            node = self.it.watch_nodes.get((source.value.serial, tape.id), node)
        else:
            cause, other = self._recording_cause(way[at:], tape, bits)
            if last.how is How.GRADIENT and moment is not Moment.PAUSED:
                moment, node, cause = Moment.GRADIENT, self._place_node(last, tape), Cause.OUTSIDE_TAPE
            elif moment is Moment.PAUSED:
                node = value.node or node
            elif cause is Cause.OUTSIDE_TAPE:
                shown = value if making is Making.FORWARD and not is_target else last
                node = self._place_node(shown, tape, last)
                if moment is Moment.BEFORE and (
                    _is_reduction(last) or (node is not last.node and last.serial not in self.it.stored)
                ):
                    making = Making.FORWARD  # a loss, or what a helper made of it, rather than a derived weight
                    node = self._place_node(last, tape)
        assumed = any(step.value.assumed for step in way)
        cut = Cut(cause, self.places.place(node), self.places.code(node), is_target, moment, making, other, assumed)
        return Outcome(asked, source, Verdict.NONE, cut, self._trace(asked, way, at))

    def _recording_cause(self, steps: list[WayStep], tape: Tape, bits: int) -> tuple[Cause, str | None]:
        """Whether another tape recorded what this one did not, or none that matters."""
        recorder = self._recorder(steps, bits)
        if recorder is None:
            return Cause.OUTSIDE_TAPE, None
        if recorder.node is tape.node and any(
            step.value.serial in self.it.held
            or (step.value.label not in _ASSEMBLING and _moment(step.value, tape) is Moment.UNDER)
            for step in steps
        ):
            # The same `with` in an earlier iteration: what it recorded was kept, and is stale now.
            return Cause.OUTSIDE_TAPE, None
        return Cause.WRONG_TAPE, recorder.name

    def _recorder(self, steps: list[WayStep], bits: int) -> Tape | None:
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

    def _not_in_target(self, asked: Asked, source: SourceAsked, tape: Tape, bits: int) -> Outcome:
        target = asked.targets[0] if asked.targets else None
        if target is not None:
            elsewhere = self._elsewhere(target, tape, bits)
            if elsewhere is not None:
                cause, other = self._recording_cause([WayStep(elsewhere, None)], tape, bits)
                node = asked.node if cause is Cause.WRONG_TAPE else self._place_node(elsewhere, tape)
                if isinstance(node, ast.arg) and asked.target_node is not None:
                    node = asked.target_node
                cut = Cut(
                    cause, self.places.place(node), self.places.code(node), True,
                    _moment(elsewhere, tape), _making(elsewhere), other, elsewhere.assumed,
                )  # fmt: skip
                return Outcome(asked, source, Verdict.NONE, cut, self._trace(asked, [WayStep(elsewhere, None)], 0))
        cut = self._plain_cut(asked, Cause.NOT_IN_TARGET, asked.node)
        return Outcome(asked, source, Verdict.NONE, cut, self._trace(asked, [], None))

    def _plain_cut(self, asked: Asked, cause: Cause, node: ast.AST) -> Cut:
        return Cut(cause, self.places.place(node), self.places.code(node), False, Moment.UNDER, Making.OPERATION)

    # -- places and traces ----------------------------------------------------------------------

    def _place_node(self, value: Value, tape: Tape, kept: Value | None = None) -> ast.AST:
        """Where to change: kept values where they were kept, returned ones at the call in the tape's frame."""
        assert value.node is not None
        frame = value.frame
        seen_from = self.it.stored.get((kept or value).serial)
        if seen_from is None or seen_from is tape.frame:
            seen_from = tape.frame
        if seen_from is None or frame is None or frame is seen_from:
            return value.node
        chain = frame.callers()
        if seen_from in chain:
            below = chain[chain.index(seen_from) - 1]
            return below.call_node if below.call_node is not None else value.node
        return value.node

    def _trace(self, asked: Asked, way: list[WayStep], at: int | None) -> Trace:
        steps: list[tuple[int, str, ast.AST]] = []
        tape = asked.tapes[-1][0] if asked.tapes else None
        if way and way[0].value.node is not None:
            first = way[0].value
            if at != 0 and first.how is not How.PARAMETER:
                steps.append((first.serial, f"{self._short(first.node)} made here", first.node))
        if at is not None and way:
            value = way[at].value
            if value.node is not None:
                steps.append((value.serial, f"{self._short(value.node)} computed here", value.node))
            if at + 1 < len(way):
                after = next(
                    (s.value for s in way[at + 1 :] if s.value.node is not None and s.value.node is not value.node),
                    None,
                )
                if after is not None and after.node is not None:
                    steps.append((after.serial, f"{self._short(after.node)} computed from it here", after.node))
        if tape is not None and not tape.implicit:
            steps.append((tape.serial, f"`{tape.name}` opened here", tape.node))
        steps.append((asked.serial, f"{asked.asked} asked here", asked.node))
        ordered = sorted(steps, key=lambda step: step[0])
        made: list[Step] = []
        for _, message, node in ordered:
            place = self.places.place(node)
            if not made or made[-1].place != place:
                made.append(Step(message, place))
        return tuple(made)

    def _short(self, node: ast.AST | None) -> str:
        code = self.places.code(node) if node is not None else ""
        return f"`{code}`" if code and len(code) <= 60 and "\n" not in code else "the value"

    # -- events ---------------------------------------------------------------------------------

    def _starved(self, group: list[Outcome]) -> object:
        outcome = group[0]
        assert outcome.cut is not None
        asked = outcome.asked
        sources = tuple(self._source(each) for each in group)
        if outcome.source.value.kind is Kind.SYMBOLIC:
            return events.SymbolicSourceAsked(sources[0], self.places.place(asked.node), outcome.trace)
        return SourcesStarved(
            outcome.cut,
            sources,
            self._tape_name(asked.tapes[-1][0]),
            self.places.code(asked.target_node) if asked.target_node is not None else "the loss",
            self.places.place(asked.node),
            asked.asked,
            outcome.trace,
            asked.zero_for_unconnected,
        )

    def _tape_name(self, tape: Tape) -> TapeName:
        return TapeName(tape.name, self.places.place(tape.node), tape.implicit)

    def _source(self, outcome: Outcome) -> Source:
        value = outcome.source.value
        ways = alternatives(value, 16) or [value]
        one = ways[0]
        node = one.node if one.node is not None else None
        if node is not None and outcome.asked.tapes and one.how is How.OPERATION:
            node = self._place_node(one, outcome.asked.tapes[-1][0])
        watch = self.it.watch_nodes.get((value.serial, outcome.asked.tapes[-1][0].id)) if outcome.asked.tapes else None
        inside = (
            node is not None and outcome.asked.sources_node is not None and _contains(outcome.asked.sources_node, node)
        )
        return Source(
            outcome.source.text,
            self._sort(one, outcome.asked),
            self.places.place(node) if node is not None else None,
            self.places.code(node) if node is not None else "",
            self.places.place(watch) if watch is not None else None,
            inside,
        )

    def _sort(self, value: Value, asked: Asked) -> SourceSort:
        if value.kind is Kind.VARIABLE and isinstance(value.ref, Variable):
            if value.ref.trainable is False:
                return SourceSort.FROZEN_VARIABLE
            tape = asked.tapes[-1][0] if asked.tapes else None
            return (
                SourceSort.UNWATCHED_VARIABLE
                if tape is not None and tape.watches_accessed is False
                else SourceSort.VARIABLE
            )
        if value.kind is Kind.VARIABLES:
            tape = asked.tapes[-1][0] if asked.tapes else None
            return (
                SourceSort.UNWATCHED_VARIABLE
                if tape is not None and tape.watches_accessed is False
                else SourceSort.VARIABLES
            )
        if value.kind is Kind.SYMBOLIC:
            return SourceSort.SYMBOLIC
        written = value.node is not None and asked.sources_node is not None and _contains(asked.sources_node, value.node)
        if value.how is How.OPERATION and value.inputs and value.label != "call" and (written or _is_slice(value)):
            used = reach(self.it, asked.targets, -1)
            for each in value.inputs:
                if each.serial in used.serials or each.serial in used.taken:
                    return SourceSort.DERIVED
        return SourceSort.TENSOR

    # -- terms ----------------------------------------------------------------------------------

    def _terms(self, asked: Asked, flowing: set[str]) -> None:
        """Summands of the target that depend on a source only by what no tape recorded."""
        if not asked.tapes or len(asked.targets) != 1 or not flowing:
            return
        terms = _summands(asked.targets[0])
        if len(terms) < 2:
            return
        bits = 0
        for _, bit in asked.tapes:
            bits |= 1 << bit
        tape = asked.tapes[-1][0]
        whole = reach(self.it, asked.targets, bits)
        for term in terms:
            found = reach(self.it, [term], bits)
            starved: list[Outcome] = []
            for source in asked.sources:
                if source.text not in flowing or not touches(whole, source) or touches(found, source):
                    continue
                if covers(self.it, found, source, bits) is not None:
                    continue
                way = way_between(self.it, [term], source, dead_ends=False)
                at, cause = _first_cut(way, bits) if way else (None, None)
                if at is None or cause is not None:
                    continue
                value = way[at].value
                moment = _moment(value, tape)
                if moment is Moment.UNDER or any(step.value.label == "loop" for step in way):
                    continue
                last = _last_outside(way[at:], tape)
                if last.possible:
                    continue  # recorded by another tape: a running total, not a forgotten term
                node = self._place_node(last, tape)
                cut = Cut(
                    Cause.OUTSIDE_TAPE, self.places.place(node), self.places.code(node), False, moment, _making(value)
                )
                starved.append(Outcome(asked, source, Verdict.NONE, cut, self._trace(asked, way, at)))
            if starved and starved[0].cut is not None:
                self.events.append(
                    TermStarved(
                        starved[0].cut,
                        tuple(self._source(each) for each in starved),
                        self._tape_name(tape),
                        self.places.code(asked.target_node) if asked.target_node is not None else "the loss",
                        self.places.place(asked.node),
                        starved[0].trace,
                    )
                )

    # -- what the run noted ----------------------------------------------------------------------

    def _conclude_noted(self) -> None:
        consumed: dict[ast.AST, list[tuple[Tape, bool, ast.AST | None]]] = {}
        for noted in self.it.events:
            if noted[0] is events.TapeConsumed:
                _, node, _, tape, certain, first = noted
                consumed.setdefault(node, []).append((tape, certain, first))
            elif noted[0] is events.KerasVariableWatched:
                _, node, _, variable, certain = noted
                if certain:
                    place = self.places.place(node)
                    self.events.append(events.KerasVariableWatched(variable.name, self.places.code(node), place))
            elif noted[0] is events.GradientsAskedInEager:
                _, node, frame, certain = noted
                if certain:
                    self.events.append(events.GradientsAskedInEager(self.places.place(node), self._calls(frame, node)))
        for node, found in sorted(consumed.items(), key=lambda item: _order(item[0])):
            tape, certain, first = next((each for each in found if each[1]), found[0])
            asked = [each for each in self.it.asked if each.node is node]
            if not certain and len(found) < len(asked):
                continue
            first_place = self.places.place(first) if first is not None else self.places.place(node)
            name = self._tape_name(tape)
            trace = (
                Step(f"`{name.name}` opened here", name.place),
                Step("asked for the first time here", first_place),
                Step("asked again here", self.places.place(node)),
            )
            self.events.append(events.TapeConsumed(name, self.places.place(node), first_place, trace))

    def _calls(self, frame: Frame, node: ast.AST) -> Trace:
        steps = [
            Step(f"`{each.name}` called here", self.places.place(each.call_node))
            for each in reversed(frame.callers())
            if each.call_node is not None
        ]
        return (*steps, Step("gradients asked here", self.places.place(node)))


def _order(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _fault(found: list[Outcome]) -> Outcome | None:
    """The way to report: one that is surely taken and starves the source, or any when all do."""
    for outcome in found:
        if outcome.verdict is Verdict.NONE and outcome.asked.certain:
            return outcome
    if all(outcome.verdict is Verdict.NONE for outcome in found):
        return found[-1]
    return None


def _is_itself(asked: Asked, source: SourceAsked) -> bool:
    """A target that is the source has gradient one, watched or not."""
    serials = {way.serial for way in alternatives(source.value, 16) or [source.value]}
    return any(target.serial in serials for target in asked.targets)


def _cut_edge(way: list[WayStep]) -> Cause | None:
    return next((step.cut for step in way if step.cut is not None), None)


def _first_cut(way: list[WayStep], bits: int) -> tuple[int | None, Cause | None]:
    """Index of the first node, in the order of running, that the tapes did not record or no gradient passes."""
    for index, step in enumerate(way):
        if step.cut is not None:
            return index, step.cut
        recorded = (How.OPERATION, How.GRADIENT, How.OPAQUE_CALL)
        if index and step.value.how in recorded and not step.value.possible & bits:
            if step.value.kind is not Kind.PLAIN:
                return index, None
    return None, None


def _last_outside(steps: list[WayStep], tape: Tape) -> Value:
    """The last value on the way that was computed while the tape was not recording: what its author sees."""
    last = steps[0].value
    for step in steps:
        if step.value.how is How.JOIN:
            continue
        if step.value.node is None or _moment(step.value, tape) is Moment.UNDER:
            break
        last = step.value
    return last


def _is_slice(value: Value) -> bool:
    return value.label.rpartition(".")[2] in ("[]", "slice", "gather", "split", "unstack", "strided_slice", "reshape", "take")


def _is_reduction(value: Value) -> bool:
    name = value.label.rpartition(".")[2]
    return name.startswith("reduce_") or name in _REDUCTIONS or "losses." in value.label


def _moment(value: Value, tape: Tape) -> Moment:
    serial = value.serial
    for start, end in tape.spans:
        if start <= serial <= end:
            for pause, resume in zip(tape.paused[::2], tape.paused[1::2], strict=False):
                if pause <= serial <= resume:
                    return Moment.PAUSED
            return Moment.UNDER
    if tape.spans and serial > tape.spans[-1][1]:
        return Moment.AFTER
    return Moment.BEFORE


def _within(clock: int, tape: Tape) -> bool:
    return any(start <= clock <= end for start, end in tape.spans)


def _origin(value: Value) -> Value:
    """The call or parameter that an unknown was read out of."""
    while value.how is How.PART and value.inputs and value.inputs[0].is_opaque:
        value = value.inputs[0]
    while value.how is How.OPAQUE_CALL and value.root is not None and value.root.how is How.OPAQUE_CALL:
        value = value.root
    return value


def _making(value: Value) -> Making:
    if value.how is How.GRADIENT:
        return Making.GRADIENT
    if value.how is How.OPAQUE_CALL or value.label == "call":
        return Making.FORWARD
    return Making.OPERATION


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    return any(each is inner for each in ast.walk(outer))


def _creation(value: Value) -> ast.AST:
    """Where a variable was made: the call that says `trainable=False`, seen through helpers."""
    node, frame = value.node, value.frame
    assert node is not None
    while frame is not None and not _says_not_trainable(node) and frame.call_node is not None:
        if frame.function is not None and frame.function.name == "__init__":
            break
        node, frame = frame.call_node, frame.caller
    return node


def _says_not_trainable(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return any(each.arg == "trainable" and isinstance(each.value, ast.Constant) for each in node.keywords) or any(
        isinstance(each, ast.Constant) and each.value is False for each in node.args[1:2]
    )


def _summands(target: Value) -> list[Value]:
    found: list[Value] = []
    stack = [target]
    while stack and len(found) < 32:
        value = stack.pop()
        if value.how is How.OPERATION and value.label in _SUMS and len(value.inputs) > 1:
            stack.extend(reversed(value.inputs))
        elif value.how is How.OPERATION and value.label == "-" and len(value.inputs) == 2:
            # `loss - beta * bonus` is a sum of terms; `a - b` may be a difference that means one thing.
            left, right = value.inputs
            if right.how is How.OPERATION and right.label == "*":
                stack.extend((right, left))
            else:
                found.append(value)
        else:
            found.append(value)
    return found
