"""The gradients that one watch saw, summed up as the program runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradlint.probe import monitors
from gradlint.probe.asked_cuts import why_structural
from gradlint.probe.cuts import CutFound, Question
from gradlint.probe.gradient_asked import GradientAsked
from gradlint.probe.names import own_name
from gradlint.probe.none_cuts import why_none
from gradlint.probe.observations import GradientCall, SourceSeen
from gradlint.probe.own_variables import OwnVariables
from gradlint.probe.private_api import tensor_id
from gradlint.probe.value_cuts import numbers_of, why_by_value, why_nan, why_zero
from gradlint.probe.variable_log import VariableLog
from gradlint.verdicts import Verdict

#: How often a fault of one source at one place is explained anew: the first time may be special.
_EXPLAINED = 2
#: Bytes of a number of single precision.
_SINGLE = 4
#: From a scale of 2**15 down to 1 there are 15 steps to leave out.
_STEPS_OF_SCALING = 20
#: Gradients of which is known whose they are.
_MOST_GIVEN = 20_000
#: Of larger models a compiled step notes only whether a gradient is zero and whether it is finite.
_MOST_SOURCES = 60


class GradientLog:
    """Every place that asked for gradients, and what it got."""

    def __init__(
        self, variables: VariableLog, own: OwnVariables, note: Callable[[str], None], *, entries: bool
    ) -> None:
        self.count = 0
        """How often gradients were asked for; in a compiled function only while it is traced."""
        self.calls: dict[Any, GradientCall] = {}
        self.graphs: dict[int, Any] = {}
        """The graphs in which gradients were asked for."""
        self.given: dict[int, int] = {}
        """Of gradients that tapes returned, by their numbers, the numbers of their variables; the latest ones."""
        self._variables = variables
        self._own = own
        self._note = note
        self._entries = entries
        self._monitors: dict[Any, tuple[GradientCall, monitors.Monitor]] = {}
        self._questions: list[tuple[SourceSeen, GradientAsked, int]] = []
        self._explained: dict[tuple[Any, int], int] = {}

    def asked_for(self, asked: GradientAsked) -> bool:
        """Take in one call; True when something in it is not as it should be."""
        self.count += 1
        key = asked.key()
        call = self.calls.get(key)
        if call is None:
            call = self.calls[key] = GradientCall(
                asked.stack, "graph" if asked.in_graph else "eager", asked.tape.opened
            )
            call.sources = [
                SourceSeen(
                    name,
                    asked.is_variable(place),
                    own_name(source),
                    asked.number(place) if asked.is_variable(place) else 0,
                    tuple(getattr(source, "shape", ()) or ()),
                    made[0] if made else None,
                )
                for place, (source, name, made) in enumerate(zip(asked.sources, asked.names, asked.made, strict=True))
            ]
        call.is_empty = not asked.sources
        call.fills_unconnected = call.fills_unconnected or asked.filled
        call.steps += 1
        for place, source in enumerate(asked.sources):
            if asked.is_variable(place):
                self._variables.of(source, asked.number(place)).asked = True
        self._note_given(asked)
        if asked.graph is not None:
            self.graphs[id(asked.graph)] = asked.graph
        if asked.in_old_graph:
            for gradient, seen in zip(asked.gradients, call.sources, strict=True):
                seen.none += gradient is None
            return False
        if asked.in_graph:
            return self._asked_in_graph(asked, call, key)
        return self._asked_eagerly(asked, call, key)

    def _note_given(self, asked: GradientAsked) -> None:
        if len(self.given) > _MOST_GIVEN:
            self.given.clear()
        for place, gradient in enumerate(asked.gradients):
            # A tf.IndexedSlices has no number of its own that would not be used again.
            if asked.is_gradient and asked.is_variable(place) and gradient is not None:
                if not hasattr(gradient, "indices"):
                    self.given[tensor_id(gradient)] = asked.number(place)

    def _asked_eagerly(self, asked: GradientAsked, call: GradientCall, key: Any) -> bool:
        import numpy as np

        bad = False
        for place, (gradient, seen) in enumerate(zip(asked.gradients, call.sources, strict=True)):
            seen.steps += 1
            if gradient is None:
                seen.none += 1
                bad = True
                self._explain(asked, place, seen, key, why_none)
                continue
            numbers = numbers_of(gradient)
            if numbers is None or numbers.dtype.kind not in "fc" or not numbers.size:
                continue
            if not np.isfinite(numbers).all():
                seen.nan += 1
                seen.first_nan = seen.first_nan or seen.steps
                bad = True
                self._explain(asked, place, seen, key, why_nan)
                continue
            seen.looked += 1
            seen.is_single = seen.is_single or numbers.dtype.itemsize <= _SINGLE
            largest = float(np.abs(numbers).max())
            seen.largest = max(seen.largest, largest)
            seen.norm = float(np.linalg.norm(numbers))
            if largest == 0.0:
                seen.zero += 1
                bad = True
                self._explain(asked, place, seen, key, why_none if asked.filled else why_zero)
            if self._entries and not hasattr(gradient, "indices") and numbers.size <= monitors.MOST_ENTRIES:
                alive = numbers != 0
                if not asked.is_gradient:  # of a Jacobian: is the entry of the source ever needed for any of the target
                    own = len(seen.shape)
                    alive = alive.reshape(-1, *alive.shape[alive.ndim - own :]).any(0)
                seen.ever = alive if seen.ever is None or seen.ever.shape != alive.shape else seen.ever | alive
        return bad

    def _explain(
        self,
        asked: GradientAsked,
        place: int,
        seen: SourceSeen,
        key: Any,
        why: Callable[[Question], CutFound | None],
    ) -> None:
        count = self._explained.get((key, place), 0)
        if count >= _EXPLAINED or not asked.has_tape:
            return
        self._explained[key, place] = count + 1
        try:
            known = asked.known_cuts(why)
            found = known.of(asked.number(place))
            if found is None:
                found = why(asked.question(place))
                if found is not None:
                    known.add(found)
        except Exception as error:  # an explanation is worth having; the program's own run is worth more
            self._note(f"the cut of `{seen.name}` could not be searched ({type(error).__name__}: {error})")
            return
        if seen.cut is None:  # the first time: later ones may run through what the fault left behind
            seen.cut = found

    def _asked_in_graph(self, asked: GradientAsked, call: GradientCall, key: Any) -> bool:
        bad = False
        for place, (gradient, seen) in enumerate(zip(asked.gradients, call.sources, strict=True)):
            if gradient is None:
                seen.steps, seen.none = max(seen.steps, 1), 1  # a graph is traced more than once
                bad = True
                self._explain(asked, place, seen, key, why_none)
            elif asked.has_tape:
                self._questions.append((seen, asked, place))
        monitor_key = (key, asked.replica)
        try:
            is_small = len(asked.gradients) <= _MOST_SOURCES
            monitor = monitors.monitored(
                self._own, monitor_key, asked.gradients, asked.intermediates, entries=self._entries and is_small
            )
        except Exception as error:
            self._note(f"gradients in a compiled graph could not be followed ({type(error).__name__}: {error})")
            return bad
        if monitor is not None:
            self._monitors[monitor_key] = (call, monitor)
        return bad

    def close(self) -> None:
        """Read what the graphs noted; say where zeros come from."""
        for call, monitor in self._monitors.values():
            rows = monitors.read(monitor)
            if rows is None:
                continue
            for place, (seen, (runs, zeros, bad, first, largest, norm)) in enumerate(
                zip(call.sources, rows, strict=True)
            ):
                seen.steps += int(runs)
                seen.looked += int(runs - bad)
                seen.is_single = True
                seen.zero += int(zeros)
                seen.nan += int(bad)
                seen.first_nan = seen.first_nan or (int(first) if first else None)
                seen.largest = max(seen.largest, largest)
                seen.norm = norm
                ever = monitor.ever[place] if monitor.ever else None
                if ever is not None and runs:
                    seen.ever = numbers_of(ever)
                    if seen.ever is not None and seen.ever.ndim > len(seen.shape):
                        seen.ever = seen.ever.reshape(-1, *seen.ever.shape[seen.ever.ndim - len(seen.shape) :]).any(0)
        for call in self.calls.values():
            # One vanishing variable among others is small, not zero.
            tiny = all(seen.is_rounding and seen.looked > 1 for seen in call.sources if seen.looked)
            for seen in call.sources:
                seen.is_tiny = tiny
        for seen, asked, place in self._questions:
            verdict = seen.verdict()
            if seen.cut is not None or verdict not in (Verdict.ZERO, Verdict.NAN):
                continue
            try:
                question = asked.question_of_zero(place)
                if verdict is Verdict.ZERO and seen.zero == seen.steps:
                    seen.cut = why_structural(question)
                    seen.structural = seen.cut is not None
                if seen.cut is None and asked.intermediates is not None:
                    seen.cut = why_by_value(question, verdict, asked.intermediates)
            except Exception as error:
                self._note(f"the cut of `{seen.name}` could not be searched ({type(error).__name__}: {error})")
        self._questions.clear()
        self._forgive_skipped_steps()

    def entries_by_variable(self) -> dict[int, Any]:
        """Per variable, by its number, the entries (NumPy, bool) that ever got anything but zero from a tape."""
        found: dict[int, Any] = {}
        for seen in (each for call in self.calls.values() for each in call.sources if each.is_variable):
            if seen.ever is not None:
                before = found.get(seen.number)
                same = before is not None and before.shape == seen.ever.shape
                found[seen.number] = seen.ever | before if same else seen.ever
        return found

    def _forgive_skipped_steps(self) -> None:
        """A LossScaleOptimizer tries large scales and leaves out the steps that overflow: that is how it works.

        Its gradients are those of the scaled loss; they are told in the units of the loss (by the scale at the end).
        """
        for call in self.calls.values():
            for seen in call.sources:
                optimizer = self._variables.optimizer_of(seen.number)
                if getattr(optimizer, "inner_optimizer", None) is None:
                    continue
                if seen.nan < seen.steps or seen.steps <= _STEPS_OF_SCALING:
                    if seen.nan and not seen.looked:  # it was never finite, so it is surely not zero
                        seen.looked, seen.largest = seen.nan, math.inf
                    seen.nan, seen.first_nan = 0, None
                scale = _scale_of(optimizer)
                seen.largest /= scale
                seen.norm /= scale


def _scale_of(optimizer: Any) -> float:
    try:
        return float(optimizer.dynamic_scale) or 1.0
    except (AttributeError, TypeError, ValueError):  # not built: no step has been scaled
        return 1.0
