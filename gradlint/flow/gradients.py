"""Gradients: what each gradient call gives each source, and the events and decisions that follow.

Asked questions are answered when the run is over, because only then every loop is closed. One
question is met on several ways (iterations, call sites): it is a fault when one way that is surely
taken gives `None`, or when every way does.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from gradlint.flow import events
from gradlint.flow.asking import Asked, SourceAsked
from gradlint.flow.blame import Blame, Outcome
from gradlint.flow.cuts import OF_PARTS, OF_PARTS_UPSTREAM
from gradlint.flow.events import Cut, Rebinding, Source, SourceSort, SourcesStarved, TermStarved
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.loss_functions import computed_by
from gradlint.flow.members import is_keras_owned
from gradlint.flow.model_events import HeadWithoutLoss, LayerOutputDropped, WeightSnapshot
from gradlint.flow.notes import Notes, order
from gradlint.flow.objects import Layer, Variable
from gradlint.flow.places import Places
from gradlint.flow.reach import Reach, WayStep, covers, reach, surely_flows, touches, unregistered, way_between
from gradlint.flow.terms import DRAWN, Terms, bits_of
from gradlint.flow.update_events import NoneFiltered, ResultDropped
from gradlint.flow.values import How, Kind, Value, alternatives, lineage, recorded_or_dead
from gradlint.flow.ways import (
    Sameness,
    contains,
    is_slice,
    origin_of,
    sameness,
)
from gradlint.flow.whole_sets import unaccounted
from gradlint.flow.zero_events import MetricAsLoss, PredictionIgnored
from gradlint.flow_report import GradientDecision, SourceDecision
from gradlint.rule import Place, Step
from gradlint.verdicts import ZERO_CAUSES, Cause, Verdict


def _is_cut_at(event: object, places: set[Place]) -> bool:
    return isinstance(event, SourcesStarved) and event.cut.place in places


class Gradients:
    """Answers the questions of one run."""

    def __init__(self, it: Interpreter, places: Places) -> None:
        self.it = it
        self.places = places
        self.blame = Blame(it, places)
        self.notes = Notes(it, places)
        self.events: list[object] = []
        self.decisions: list[GradientDecision] = []
        self.left_out: dict[int, Outcome] = {}  # by id: parts of a model that some loss leaves out
        self.stopped: dict[int, Outcome] = {}  # by id: single weights that are stopped on every way to some loss
        self.reached: frozenset[int] = frozenset()

    def conclude(self) -> None:
        """Fill `events` and `decisions`."""
        by_call: dict[ast.AST, list[Asked]] = {}
        for asked in self.it.asked:
            by_call.setdefault(asked.node, []).append(asked)
        for node, every in sorted(by_call.items(), key=lambda item: order(item[0])):
            self._conclude_call(node, every)
        self._add_stopped()
        self._add_noted()
        self._add_heads()
        self._conclude_unreached(by_call)

    def _add_noted(self) -> None:
        """What was noted while code ran; not twice what a gradient call showed already."""
        rebound = [each.place for each in self.events if isinstance(each, events.VariableRebound)]
        noted = list(self.notes.as_events())
        dropped = {each.place for each in noted if isinstance(each, ResultDropped | MetricAsLoss)}
        # A dropped result, a metric for a loss, is told as such, not as the cut that it makes.
        self.events = [each for each in self.events if not _is_cut_at(each, dropped) and not self._is_ignoring(each)]
        starved = [each.cut.place for each in self.events if isinstance(each, SourcesStarved | TermStarved)]
        for event in noted:
            if isinstance(event, events.VariableRebound | WeightSnapshot):
                told = rebound if isinstance(event, events.VariableRebound) else starved
                if self.places.statement(event.place) in map(self.places.statement, told):
                    continue
            self.events.append(event)

    def _note_left_out(self, found: list[Outcome]) -> None:
        """A part of a model that is called under the tape, and whose output the loss leaves out."""
        source = found[0].source.value
        owner = source.ref.owner if source.kind is Kind.VARIABLES else None
        if isinstance(owner, Layer) and all(each.asked.asked == "gradient" for each in found):
            if self.it.called_layers.get(owner.id) and owner.id in self.it.layer_values:
                self.left_out.setdefault(owner.id, found[0])

    def _note_stopped(self, fault: Outcome) -> None:
        """A trainable weight that some loss depends on behind `stop_gradient` alone, and that nothing writes."""
        weight = fault.source.value.ref
        if isinstance(weight, Variable) and weight.exact and weight.trainable is True:
            if weight.id not in self.it.assigned and weight.id not in self.it.written_state:
                self.stopped.setdefault(weight.id, fault)

    def _add_stopped(self) -> None:
        """Those that no other gradient call of the file reaches: the set is said to train them, and nothing does."""
        by_cut: dict[Place, list[Outcome]] = {}
        for member, fault in sorted(self.stopped.items()):
            if member not in self.reached and fault.cut is not None:
                by_cut.setdefault(fault.cut.place, []).append(fault)
        self.events.extend(self._starved(group) for group in by_cut.values())

    def _add_heads(self) -> None:
        """Parts that no gradient call of the file reaches, although they are called under its tape."""
        dropped = {node for note in self.it.notes if note.event is LayerOutputDropped for node in ast.walk(note.node)}
        for member, outcome in sorted(self.left_out.items()):
            layer = self.it.layer_values[member]
            if member in self.reached or layer.node is None or dropped & self.it.called_layers[member]:
                continue
            place = self.places.place(layer.node)
            trace = (Step("made here", place), Step("gradient asked here", self.places.place(outcome.asked.node)))
            head = outcome.source.text.removesuffix(".trainable_variables")
            self.events.append(HeadWithoutLoss(place, self.places.code(layer.node), trace, False, head, False))

    def _is_ignoring(self, event: object) -> bool:
        """Whether sources starve because a loss of this file never reads the prediction: that is told there."""
        if not isinstance(event, SourcesStarved) or event.cut.cause is not Cause.NOT_IN_TARGET:
            return False
        ignoring = {note.node for note in self.it.notes if note.event is PredictionIgnored}
        targets = [
            target
            for asked in self.it.asked
            if ignoring and self.places.place(asked.node) == event.asked_at
            for target in asked.targets
        ]
        return any(
            each.frame is not None and each.frame.function is not None
            and computed_by(each.frame.function) in ignoring
            for each in lineage(targets, 300, recorded_or_dead)
        )  # fmt: skip

    def _conclude_unreached(self, by_call: dict[ast.AST, list[Asked]]) -> None:
        """Gradient calls that no way led to are undecided, and said to be."""
        for node in self.it.source.relevance.gradient_calls:
            if node in by_call:
                continue
            because = "this call is not reached by what was followed"
            for entry, reason in self.it.gave_up:
                if getattr(entry, "lineno", 0) <= node.lineno <= (getattr(entry, "end_lineno", 0) or 0):
                    because = reason
            place = self.places.place(node)
            sources = (SourceDecision("the sources", None, None, place, because),)
            target = self.places.code(node.args[0]) if node.args else "the loss"
            name = node.func.attr if isinstance(node.func, ast.Attribute) else "gradient"
            self.decisions.append(GradientDecision(place, name, "", target, sources, is_reached=False))
        self.decisions.sort(key=lambda decision: decision.place.order)

    def _conclude_call(self, node: ast.AST, every: list[Asked]) -> None:
        outcomes: dict[tuple[str, str], list[Outcome]] = {}
        for asked in every[:32]:
            for outcome in self._outcomes(asked):
                outcomes.setdefault((outcome.source.within, outcome.source.text), []).append(outcome)
        decided: list[SourceDecision] = []
        apart: dict[str, list[SourceDecision]] = {}  # by set: what is known of parts that do not surely flow
        starved: dict[tuple[Place, Cause], list[Outcome]] = {}
        faults = {key: _fault(found) for key, found in outcomes.items()}
        whole = {text for (within, text), fault in faults.items() if not within and fault is not None}
        for (within, text), found in outcomes.items():
            fault = faults[within, text]
            if fault is not None and _is_integer_source(fault) and not all(faults.values()):
                decided.append(SourceDecision(text, Verdict.NONE, Cause.INTEGER, self.places.place(node)))
                continue  # a counter beside what is trained
            if fault is None and (within or found[0].source.value.kind is Kind.VARIABLE):
                self.reached |= found[0].source.members
            if within:
                if within in whole:
                    continue
                known = self._decision(text, found) if fault is None else self._starving(text, fault)
                if known.verdict is not Verdict.FLOWS:
                    apart.setdefault(within, []).append(known)
                # A part of a set: a fault only where it starves alone, and not for what the loss leaves out.
                if fault is None:
                    continue
                if fault.cut is None or not _told_of_parts(fault.cut):
                    if fault.cut is not None and fault.cut.cause is Cause.STOPPED:
                        self._note_stopped(fault)
                    if fault.cut is None or fault.cut.cause is Cause.NOT_IN_TARGET:
                        self._note_filtered(node, text)
                        self._note_left_out(found)
                    continue
            if fault is not None and fault.cut is not None:
                starved.setdefault((fault.cut.place, fault.cut.cause), []).append(fault)
                if not within:
                    decided.append(self._starving(text, fault))
            elif not within:
                decided.append(self._decision(text, found))
        decided = [each for one in decided for each in _with_parts(one, apart.get(one.source, []))]
        for group in starved.values():
            self.events.append(self._starved(group))
        first = every[0]
        if not decided:
            because = "nothing is known of the sources"
            decided.append(SourceDecision("the sources", None, None, self.places.place(node), because))
        self.decisions.append(
            GradientDecision(
                self.places.place(node),
                first.asked,
                "" if first.frame.is_module else first.frame.name,
                self.places.code(first.target_node) if first.target_node is not None else "the loss",
                tuple(decided),
            )
        )
        for asked in every[:8]:
            if asked.certain:
                self._unregistered(asked)
                told = {each.source.text for group in starved.values() for each in group}
                self._terms(asked, {text for (_, text), fault in faults.items() if fault is None}, told)

    def _note_filtered(self, node: ast.AST, variable: str) -> None:
        """A part that the loss leaves out, where the None that it gets is filtered away."""
        filter_ = self.it.none_filtered.get(node)
        if filter_ is not None:
            asked, place = self.places.place(node), self.places.place(filter_)
            trace = (Step("gradient asked here", asked), Step("filtered here", place))
            self.events.append(NoneFiltered(place, self.places.code(filter_), trace, False, variable))

    def _decision(self, text: str, found: list[Outcome]) -> SourceDecision:
        unknown = next((each for each in found if each.verdict is None), None)
        if unknown is not None:
            value = unknown.unknown
            place = self.places.place(value.node) if value is not None and value.node is not None else None
            if place is None:
                place = self.places.place(unknown.asked.node)
            return SourceDecision(text, None, None, place, unknown.because)
        if all(each.verdict is Verdict.FLOWS for each in found):
            because = next((why for each in found if (why := unaccounted(self.it, each.source.value))), "")
            if because:
                return SourceDecision(text, None, None, self.places.place(found[0].asked.node), because)
            return SourceDecision(text, Verdict.FLOWS)
        return SourceDecision(text, None, None, self.places.place(found[0].asked.node), "it differs from way to way")

    def _starving(self, text: str, fault: Outcome) -> SourceDecision:
        """What is known of a source that starves."""
        cut = fault.cut
        if cut is None:
            return SourceDecision(text, Verdict.NONE, None, self.places.place(fault.asked.node))
        if cut.assumed:
            because = "most likely none: it depends on a call that is judged by its name"
            return SourceDecision(text, None, None, cut.place, because)
        told_zero = cut.cause in ZERO_CAUSES and cut.verdict is Verdict.ZERO
        return SourceDecision(text, Verdict.ZERO if told_zero else Verdict.NONE, cut.cause, cut.place)

    def _outcomes(self, asked: Asked) -> list[Outcome]:
        if not asked.tapes:
            because = asked.because or "the tape cannot be told"
            return [Outcome(asked, source, None, because=because) for source in asked.sources]
        bits = bits_of(asked)
        found = reach(self.it, asked.targets, bits)
        outcomes = [self._outcome(asked, source, bits, found) for source in asked.sources]
        if len(outcomes) > 1 and any(sameness(asked, source) is not Sameness.NO for source in asked.sources):
            # Beside the target itself TensorFlow may give the other sources None: tape.gradient(y, [y, w]).
            because = "the target is asked for itself as well"
            return [
                replace(each, verdict=None, because=because)
                if each.verdict is Verdict.FLOWS and sameness(asked, each.source) is not Sameness.SURE
                else each
                for each in outcomes
            ]
        return outcomes

    def _outcome(self, asked: Asked, source: SourceAsked, bits: int, found: Reach) -> Outcome:
        value = source.value
        if value.kind is Kind.SYMBOLIC and value.serial not in self.it.stand_ins:
            cut = self.blame.plain_cut(asked, Cause.UNSUPPORTED, asked.node)
            return Outcome(asked, source, Verdict.NONE, cut)
        same = sameness(asked, source)
        if same is Sameness.SURE:
            return Outcome(asked, source, Verdict.FLOWS)
        sure = source.surely & bits and any(surely_flows(self.it, each, source, bits) for each in asked.targets)
        if same is Sameness.POSSIBLE and not sure:
            return Outcome(asked, source, None, because="the target may be the source itself")
        touched = touches(found, source)
        handed_out = self._handed_out(source)
        if handed_out is not None and self._tape_escaped(asked):  # whoever made the source may have had it watched
            return Outcome(asked, source, None, unknown=handed_out, because=handed_out.because)
        if handed_out is not None and found.is_closed and not self._may_be_used(handed_out, found):
            handed_out = None
        if handed_out is not None and not touched and not self.blame.all_elsewhere(asked, bits):
            return Outcome(asked, source, None, unknown=handed_out, because=handed_out.because)
        if touched and source.tracked & bits:
            if sure:
                return Outcome(asked, source, Verdict.FLOWS)
            because = "recorded on some ways only"
            unknown = next(iter(found.opaque), None) or next(iter(found.loose), None)
            if unknown is not None and unknown.because:
                because = unknown.because
            return Outcome(asked, source, None, unknown=unknown, because=because)
        unseen = not source.tracked & bits and not self._tape_escaped(asked)
        if not touched and unseen and not self.blame.all_elsewhere(asked, bits):
            covering = covers(self.it, found, source, bits)
            if covering is not None:
                # Whatever unknown code does with it: a tensor that the tape does not watch gets None.
                return self.blame.unwatched(asked, source, [])
        if not touched and not self.blame.all_elsewhere(asked, bits):
            covering = covers(self.it, found, source, bits)
            if covering is not None:
                outside = self.blame.judged_by_names(asked, source, bits)
                if outside is not None:
                    return outside
                return Outcome(
                    asked, source, None, unknown=covering, because=covering.because or "a value that is not known"
                )
        outcome = self.blame.starved_outcome(asked, source, bits, touched)
        if self.blame.is_beside(outcome, bits, found):
            cut = self.blame.plain_cut(asked, Cause.NOT_IN_TARGET, asked.node)
            return replace(outcome, cut=cut)
        return outcome

    def _handed_out(self, source: SourceAsked) -> Value | None:
        """The unseen call that a source comes from: asked for, it is rather a variable than what a call computed."""
        for way in alternatives(source.value, 16) or ():
            origin = origin_of(way) if way.is_opaque else way
            if origin.how is How.OPAQUE_CALL and origin.label != "batch":
                return origin
        return None

    def _may_be_used(self, handed_out: Value, found: Reach) -> bool:
        """Whether what an unseen call returned may be a tensor that it was handed, and that the target was made of."""
        escaped = self.it.escaped_values
        return any(escaped.get(serial, handed_out.serial + 1) <= handed_out.serial for serial in found.serials)

    def _tape_escaped(self, asked: Asked) -> bool:
        """Whether code that cannot be seen may have told the tape to watch something."""
        return any(tape.escaped_at is not None and tape.escaped_at <= asked.serial for tape, _ in asked.tapes)

    def _starved(self, group: list[Outcome]) -> object:
        outcome = group[0]
        assert outcome.cut is not None
        asked = outcome.asked
        sources = tuple(self._source(each) for each in group)
        if outcome.cut.cause is Cause.REBOUND:
            names = "` and `".join(each.name for each in sources[:3])
            node = self.blame.place_node(outcome.source.value, asked.tapes[-1][0])
            return self.notes.rebound(names, Rebinding.STARVED, node, outcome.trace, certain=not outcome.cut.assumed)
        if outcome.cut.cause is Cause.UNREGISTERED_OP:
            target = self.places.code(asked.target_node) if asked.target_node is not None else "the loss"
            return events.UnregisteredOperation(outcome.cut, sources, target, outcome.trace)
        if outcome.cut.cause is Cause.CUSTOM_GRADIENT:
            return self._misused(outcome, sources)
        if outcome.source.value.kind is Kind.SYMBOLIC and outcome.source.value.serial not in self.it.stand_ins:
            return events.SymbolicSourceAsked(
                sources[0].name, self.places.place(asked.node), "AttributeError", outcome.trace
            )
        return self._starved_by(outcome, sources)

    def _starved_by(self, outcome: Outcome, sources: tuple[Source, ...]) -> SourcesStarved:
        asked, cut = outcome.asked, outcome.cut
        assert cut is not None
        if asked.zero_for_unconnected and cut.cause not in ZERO_CAUSES and _is_keras_3(self.it, outcome.source.value):
            # TensorFlow 2.21 makes no zeros of a keras.Variable, whose dtype is a string.
            cut = replace(cut, raises="AttributeError")
        return SourcesStarved(
            cut,
            sources,
            self.blame.tape_name(asked.tapes[-1][0]),
            self.places.code(asked.target_node) if asked.target_node is not None else "the loss",
            self.places.place(asked.node),
            asked.asked,
            outcome.trace,
            asked.zero_for_unconnected,
        )

    def _source(self, outcome: Outcome) -> Source:
        value = outcome.source.value
        ways = alternatives(value, 16) or [value]
        one = ways[0]
        node = one.node if one.node is not None else None
        if node is not None and outcome.asked.tapes and one.how is How.OPERATION:
            node = self.blame.place_node(one, outcome.asked.tapes[-1][0])
        watch = self.it.watch_nodes.get((value.serial, outcome.asked.tapes[-1][0].id)) if outcome.asked.tapes else None
        inside = (
            node is not None and outcome.asked.sources_node is not None and contains(outcome.asked.sources_node, node)
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
        if value.kind is Kind.SYMBOLIC and value.serial not in self.it.stand_ins:
            return SourceSort.SYMBOLIC
        written = value.node is not None and asked.sources_node is not None and contains(asked.sources_node, value.node)
        if value.how is How.OPERATION and value.inputs and not value.is_computed and (written or is_slice(value)):
            used = reach(self.it, asked.targets, -1)
            for each in value.inputs:
                if each.serial in used.serials or each.serial in used.taken:
                    return SourceSort.DERIVED
        return SourceSort.TENSOR

    def _unregistered(self, asked: Asked) -> None:
        """Operations that make the gradient call raise, whatever else leads to the target."""
        bits = bits_of(asked)
        for target in asked.targets if asked.tapes else ():
            for value, given in unregistered(self.it, target, asked.sources, bits):
                for source in asked.sources:
                    way = way_between(self.it, [given], source, dead_ends=False)
                    if way:
                        way = [*way, WayStep(value, Cause.UNREGISTERED_OP)]
                        outcome = self.blame.dead_end(asked, source, way, len(way) - 1, Cause.UNREGISTERED_OP)
                        self.events.append(self._starved([outcome]))
                        break

    def _terms(self, asked: Asked, flowing: set[str], told: set[str]) -> None:
        """Summands of the target that give the sources nothing, although they depend on them."""
        if not asked.tapes:
            return
        terms = Terms(self.it, self.blame, asked, bits_of(asked))
        target = self.places.code(asked.target_node) if asked.target_node is not None else "the loss"
        for function, parameter in terms.ignoring() if flowing else ():
            place = self.places.place(computed_by(function))
            trace = (Step("computed here", place), Step("gradient asked here", self.places.place(asked.node)))
            ignored = (function.name, parameter.arg, False, target)
            self.events.append(PredictionIgnored(place, parameter.arg, trace, False, *ignored))
        for starved in terms.starved(flowing, told):
            first = starved[0]
            assert first.cut is not None
            self.events.append(
                TermStarved(
                    first.cut,
                    tuple(self._source(each) for each in starved),
                    self.blame.tape_name(asked.tapes[-1][0]),
                    target,
                    self.places.place(asked.node),
                    first.trace,
                    first.because == DRAWN,
                )
            )

    def _misused(self, outcome: Outcome, sources: tuple[Source, ...]) -> events.CustomGradientMisused:
        cut = outcome.cut
        assert cut is not None
        starved = self._starved_by(outcome, sources)
        names = tuple(each.name for each in sources)
        return events.CustomGradientMisused(
            events.Misuse.NONE, cut.place, cut.code, starved.consequence, outcome.trace, names
        )


def _with_parts(whole: SourceDecision, apart: list[SourceDecision]) -> list[SourceDecision]:
    """A set and its parts that do not surely flow: then what flows are the others."""
    if not apart or whole.verdict is not Verdict.FLOWS:
        return [whole]
    return [*apart, replace(whole, source=f"{whole.source}, the others")]


def _is_integer_source(outcome: Outcome) -> bool:
    """Whether the source is an integer variable itself."""
    return outcome.cut is not None and outcome.cut.cause is Cause.INTEGER and not outcome.cut.symbol


def _told_of_parts(cut: Cut) -> bool:
    """Whether a part of a set of variables that starves alone is a fault, and not the author's plan."""
    if cut.cause in (Cause.OUTSIDE_TAPE, Cause.WRONG_TAPE) or cut.cause in OF_PARTS:
        return True
    if cut.cause in OF_PARTS_UPSTREAM:
        return cut.feeds_trained_layers
    return cut.straight_through


def _fault(found: list[Outcome]) -> Outcome | None:
    """The way to report: one that is surely taken and starves the source, or any when all do."""
    flows = any(outcome.verdict is Verdict.FLOWS for outcome in found)
    for outcome in found:
        if outcome.verdict is Verdict.NONE and outcome.asked.certain:
            if outcome.cut is not None and outcome.cut.cause is Cause.NOT_IN_TARGET:
                continue  # of several losses, one may well leave a variable out
            if outcome.cut is not None and outcome.cut.cause in ZERO_CAUSES and flows:
                continue  # zeros among the data: the other batches do train it
            return outcome
    if all(outcome.verdict is Verdict.NONE for outcome in found):
        return found[-1]
    for outcome in found:
        if outcome.cut is not None and outcome.cut.cause is Cause.REBOUND:
            return replace(outcome, cut=replace(outcome.cut, assumed=True))  # unless every loop ends after one step
    return None


def _is_keras_3(it: Interpreter, source: Value) -> bool:
    """Whether a source surely is a variable of Keras 3, which TensorFlow's own code sees as a stranger."""
    if not it.keras_3:
        return False
    if source.kind is Kind.VARIABLES:
        return is_keras_owned(source)
    return source.kind is Kind.VARIABLE and isinstance(source.ref, Variable) and source.ref.keras
