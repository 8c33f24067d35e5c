"""The account of one watch: every gradient call, variable, layer and update that it saw, summed up as it goes."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from gradlint.probe import monitors
from gradlint.probe.cut_search import (
    CutFound,
    KnownCuts,
    Question,
    numbers_of,
    why_by_value,
    why_nan,
    why_none,
    why_zero,
)
from gradlint.probe.dataflow import Op
from gradlint.probe.intermediates import Intermediates
from gradlint.probe.names import identities, own_name
from gradlint.probe.observations import GradientCall, LayerSeen, MaskSeen, SourceSeen, VariableSeen
from gradlint.probe.places import Stack, here
from gradlint.probe.private_api import handles_of, tensor_id
from gradlint.probe.tapes import TapeSeen
from gradlint.verdicts import Verdict

#: How often a fault of one source at one place is explained anew: the first time may be special.
_EXPLAINED = 2
#: Bytes of a number of single precision.
_SINGLE = 4
#: From a scale of 2**15 down to 1 there are 15 steps to leave out.
_STEPS_OF_SCALING = 20
#: Of larger models a compiled step notes only whether a gradient is zero and whether it is finite.
_MOST_SOURCES = 60


@dataclass(slots=True)
class GradientAsked:
    """One call of `tape.gradient`, as the hub tells it to the accounts."""

    stack: Stack
    tape: TapeSeen
    targets: tuple[Any, ...]
    sources: list[Any]
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
            min(identities(source)) if hasattr(source, "trainable") else f"#{place}"
            for place, source in enumerate(self.sources)
        )
        return (tuple(at), parts)


class Written(Protocol):
    """Who knows what the program itself assigned to variables: the hub."""

    writes: dict[int, int]
    written_in_graphs: set[int]


class Account:
    """What one watch saw."""

    def __init__(self, *, entries: bool = True, locates_in_graphs: bool = False) -> None:
        self.locates_in_graphs = locates_in_graphs
        self.asks = 0
        self.calls: dict[Any, GradientCall] = {}
        self.variables: dict[int, VariableSeen] = {}
        self.layers: list[LayerSeen] = []
        self.notes: list[str] = []
        self.unobserved: list[Stack] = []
        self.updates = 0
        self.expects_sources = False
        """Is an empty list of sources a fault? To ask for no gradients is odd; to give an optimizer none is wrong."""
        self.ran: set[Stack] = set()
        """Where ops ran eagerly; known at the end."""
        self.graphs: dict[int, Any] = {}
        """The graphs in which gradients were asked for."""
        self._entries = entries
        self._objects: dict[int, Any] = {}
        self._owners: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._called_by: set[tuple[int, int]] = set()
        self._children: list[tuple[Any, LayerSeen]] = []
        self._layers: weakref.WeakKeyDictionary[Any, LayerSeen] = weakref.WeakKeyDictionary()
        self._monitors: dict[Any, tuple[GradientCall, monitors.Monitor]] = {}
        self._questions: list[tuple[SourceSeen, Question, Intermediates | None]] = []
        self._explained: dict[tuple[Any, int], int] = {}
        self._lock = threading.RLock()
        self._seen_functions: weakref.WeakSet[Any] = weakref.WeakSet()
        self._started_update = False
        self._optimizers: dict[int, Any] = {}
        self._written: Written | None = None

    def note(self, words: str) -> None:
        """Something about the run as a whole that the reader must know."""
        if words not in self.notes:
            self.notes.append(words)

    # Gradients.

    def gradients_asked(self, asked: GradientAsked) -> bool:
        """Take in one call; True when something in it is not as it should be."""
        with self._lock:
            self.asks += 1
            key = asked.key()
            call = self.calls.get(key)
            if call is None:
                call = self.calls[key] = GradientCall(
                    asked.stack, "graph" if asked.in_graph else "eager", asked.tape.opened
                )
                call.sources = [
                    SourceSeen(
                        name,
                        hasattr(source, "trainable"),
                        own_name(source),
                        min(identities(source)) if hasattr(source, "trainable") else 0,
                        tuple(getattr(source, "shape", ()) or ()),
                        made[0] if made else None,
                    )
                    for source, name, made in zip(asked.sources, asked.names, asked.made, strict=True)
                ]
            call.is_empty = not asked.sources
            call.fills_unconnected = call.fills_unconnected or asked.filled
            call.steps += 1
            for source in asked.sources:
                if hasattr(source, "trainable"):
                    self._variable(source).asked = True
            if asked.graph is not None:
                self.graphs[id(asked.graph)] = asked.graph
            if asked.in_old_graph:
                for gradient, seen in zip(asked.gradients, call.sources, strict=True):
                    seen.none += gradient is None
                return False
            if asked.in_graph:
                return self._asked_in_graph(asked, call, key)
            return self._asked_eagerly(asked, call, key)

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
            found = known.of(min(identities(asked.sources[place])))
            if found is None:
                found = why(self._question(asked, place))
                if found is not None:
                    known.add(found)
        except Exception as error:  # an explanation is worth having; the program's own run is worth more
            self.note(f"the cut of `{seen.name}` could not be searched ({type(error).__name__}: {error})")
            return
        if (
            found is not None and seen.cut is None
        ):  # the first time: later ones may run through what the fault left behind
            seen.cut = found

    def _question(self, asked: GradientAsked, place: int) -> Question:
        source = asked.sources[place]
        is_variable = hasattr(source, "trainable")
        handles = identities(source)
        number = min(handles)
        return Question(
            number,
            asked.targets,
            asked.tape,
            asked.ops(),
            is_variable,
            bool(getattr(source, "trainable", False)),
            not handles.isdisjoint(asked.watched)
            or not handles.isdisjoint(asked.tape.watched)
            # Read by TensorFlow's C++ alone, a variable is watched and not told of.
            or (is_variable and bool(source.trainable) and asked.tape.watches_variables),
            asked.graphs,
            source,
            asked.intermediates.by_number() if asked.intermediates is not None else None,
            asked.graph,
        )

    def _asked_in_graph(self, asked: GradientAsked, call: GradientCall, key: Any) -> bool:
        bad = False
        for place, (gradient, seen) in enumerate(zip(asked.gradients, call.sources, strict=True)):
            if gradient is None:
                seen.steps, seen.none = max(seen.steps, 1), 1  # a graph is traced more than once
                bad = True
                self._explain(asked, place, seen, key, why_none)
            elif asked.has_tape:
                self._questions.append((seen, self._question_later(asked, place), asked.intermediates))
        monitor_key = (id(self), key, asked.replica)
        try:
            is_small = len(asked.gradients) <= _MOST_SOURCES
            monitor = monitors.monitored(
                monitor_key, asked.gradients, asked.intermediates, entries=self._entries and is_small
            )
        except Exception as error:
            self.note(f"gradients in a compiled graph could not be followed ({type(error).__name__}: {error})")
            return bad
        if monitor is not None:
            self._monitors[monitor_key] = (call, monitor)
        return bad

    def _question_later(self, asked: GradientAsked, place: int) -> Question:
        """What to ask should it turn out to be zero. The ops are not read before."""
        return Question(
            min(identities(asked.sources[place])),
            asked.targets,
            asked.tape,
            _Later(asked.ops),
            hasattr(asked.sources[place], "trainable"),
            True,
            True,
            asked.graphs,
        )

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
        from gradlint.probe.structure import is_structural

        for seen, question, intermediates in self._questions:
            verdict = seen.verdict()
            if seen.cut is not None or verdict not in (Verdict.ZERO, Verdict.NAN):
                continue
            try:
                if verdict is Verdict.ZERO and seen.zero == seen.steps:
                    seen.cut = is_structural(question)
                    seen.structural = seen.cut is not None
                if seen.cut is None and intermediates is not None:
                    seen.cut = why_by_value(question, verdict, intermediates)
            except Exception as error:
                self.note(f"the cut of `{seen.name}` could not be searched ({type(error).__name__}: {error})")
        self._questions.clear()
        self._forgive_skipped_steps()
        self._compare()
        self._judge_layers()

    def _forgive_skipped_steps(self) -> None:
        """A LossScaleOptimizer tries large scales and leaves out the steps that overflow: that is how it works.

        Its gradients are those of the scaled loss; they are told in the units of the loss (by the scale at the end).
        """
        for call in self.calls.values():
            for seen in call.sources:
                optimizer = self._optimizers.get(seen.number)
                if getattr(optimizer, "inner_optimizer", None) is None:
                    continue
                if seen.nan < seen.steps or seen.steps <= _STEPS_OF_SCALING:
                    if seen.nan and not seen.looked:  # it was never finite, so it is surely not zero
                        seen.looked, seen.largest = seen.nan, math.inf
                    seen.nan, seen.first_nan = 0, None
                scale = _scale_of(optimizer)
                seen.largest /= scale
                seen.norm /= scale

    def _judge_layers(self) -> None:
        for parent, seen in self._children:
            caller = parent()
            if caller is None:
                continue
            try:
                tracked = {min(identities(variable)) for variable in caller.variables}
            except Exception:
                continue
            if tracked and tracked.isdisjoint(seen.variables or ()):
                seen.is_untracked, seen.parent = True, str(getattr(caller, "name", ""))
        for layer, owner in list(self._owners.items()):
            made = self._layers.get(layer)
            by = self._layers.get(owner()) if owner() is not None else None
            if made is not None and by is not None and not bool(getattr(layer, "built", True)):
                made.owner_called = by.called > 0

    # Variables, layers, functions.

    def variable_made(self, variable: Any, stack: Stack) -> None:
        """A tf.Variable or keras.Variable was made."""
        try:
            seen = self._variable(variable)
        except Exception:  # a Keras variable that is not built yet
            return
        seen.made = stack

    def _variable(self, variable: Any) -> VariableSeen:
        number = min(identities(variable))
        seen = self.variables.get(number)
        if seen is None or hasattr(variable, "path"):
            name = own_name(variable) or (seen.name if seen is not None else "")
            trainable = bool(getattr(variable, "trainable", False))
            if seen is None:
                seen = self.variables[number] = VariableSeen(name, trainable)
            seen.name = name
            self._objects[number] = variable
        seen.trainable = bool(getattr(self._objects[number], "trainable", False))
        return seen

    def layer_made(self, layer: Any, stack: Stack, made_in: str, owner: Any) -> None:
        """A Keras layer was made: in the `call` of another, under a tape, by the constructor of its owner."""
        seen = LayerSeen(str(getattr(layer, "name", "")), type(layer).__name__, stack, made_in=made_in)
        self.layers.append(seen)
        if owner is not None:
            try:
                self._owners[layer] = weakref.ref(owner)
            except TypeError:
                return
        try:
            self._layers[layer] = seen
        except TypeError:
            return

    def layer_called(self, layer: Any, outermost: Any) -> None:
        """A Keras layer was called, by the program or somewhere inside the call of another one."""
        try:
            seen = self._layers.get(layer)
        except TypeError:
            return
        if seen is None:
            return
        seen.called += 1
        if not seen.variables:
            try:
                own = [variable for variable in layer.trainable_variables if hasattr(variable, "path")]
                if not all(handles_of(variable) for variable in own):  # a symbolic call: nothing is made yet
                    return
                seen.variables = tuple(min(identities(variable)) for variable in own)
            except Exception:  # not built, or not Keras 3
                return
        if outermost is not None and seen.variables and (id(outermost), id(seen)) not in self._called_by:
            self._called_by.add((id(outermost), id(seen)))
            seen.called_at = here()
            self._children.append((weakref.ref(outermost), seen))

    def function_called(self, function: Any, *, traced: bool, stack: Callable[[], Stack]) -> None:
        """A tf.function ran; when it was traced before the watch, what happens in it is not seen."""
        if function in self._seen_functions:
            return
        if traced:
            self._seen_functions.add(function)
            return
        self._seen_functions.add(function)
        self.unobserved.append(stack())

    # Updates.

    def frozen(self, variable: Any, stack: Stack, written: Written) -> None:
        """`trainable` of a variable was set to false."""
        import tensorflow as tf

        try:
            seen = self._variable(variable)
            with tf.init_scope():
                seen.value_at_freeze = _value(variable)
        except Exception:  # not built yet: nothing to keep
            return
        seen.frozen_at = stack
        self._written = written
        seen.writes_at_freeze = self._count_writes(variable)

    def _count_writes(self, variable: Any) -> int:
        """How often the program itself assigned to it; what a compiled function assigns cannot be counted."""
        assert self._written is not None
        numbers = identities(variable)
        if not numbers.isdisjoint(self._written.written_in_graphs):
            return -1
        return sum(self._written.writes.get(number, 0) for number in numbers)

    def before_update(
        self,
        optimizer: Any,
        gradients: list[Any],
        variables: list[Any],
        stack: Stack,
        masks: list[tuple[int, Any, Any, Stack]],
    ) -> None:
        """An optimizer is about to be applied. `masks`: what the program made of gradients since the last update."""
        import tensorflow as tf

        if not self._started_update:
            self._started_update = True
            with tf.init_scope():
                for number in list(self._objects):
                    self._remember(number)
        self.updates += 1
        self.expects_sources = self.expects_sources or not gradients
        for variable in variables:
            seen = self._variable(variable)
            number = min(identities(variable))
            if seen.value_at_update is None:
                with tf.init_scope():
                    self._remember(number)
            if not seen.trainable and seen.value_when_frozen is None:
                with tf.init_scope():
                    seen.value_when_frozen = _value(variable)
            elif seen.trainable:
                self._compare_frozen(seen, variable)
            seen.applied = True
            seen.optimizer = type(optimizer).__name__
            seen.applied_at = stack
            self._optimizers[number] = optimizer
        if tf.executing_eagerly():
            for variable, gradient in zip(variables, gradients, strict=False):
                number = min(identities(variable))
                self._note_mask(self.variables[number], variable, gradient, [m for m in masks if m[0] == number])

    def _note_mask(
        self, seen: VariableSeen, variable: Any, applied: Any, masks: list[tuple[int, Any, Any, Stack]]
    ) -> None:
        """Entries of the gradient were set to zero: they are to stay, as long as that goes on."""
        for _, gradient, result, stack in masks:
            before, after = numbers_of(gradient), numbers_of(result)
            if before is None or after is None or after.shape != before.shape or not stack:
                continue
            masked = (after == 0) & (before != 0)
            if not masked.any() or masked.all():
                continue
            if seen.mask is None:
                value = _value(variable)
                if value is None or value.shape != masked.shape:
                    return
                seen.mask = MaskSeen(stack[0], value, masked, after != 0)
            seen.mask.masked = seen.mask.masked | masked
            seen.mask.passed = seen.mask.passed | (after != 0)
            seen.mask.updates += 1
            got = numbers_of(applied)
            if got is not None and got.shape == masked.shape and bool((got[masked] != 0).any()):
                seen.mask.bypassed = True
            return
        if seen.mask is not None and not seen.mask.moved:
            self._close_mask(seen, variable)
            seen.mask = seen.mask if seen.mask.moved else None

    def _close_mask(self, seen: VariableSeen, variable: Any) -> None:
        mask, after = seen.mask, _value(variable)
        if mask is None or mask.updates < 2 or after is None or after.shape != mask.masked.shape:
            return
        mask.moved = int(((after != mask.value) & mask.masked & ~mask.passed).sum())

    def optimizer_of(self, number: int) -> Any:
        """The optimizer that last got the variable of this number, or None."""
        return self._optimizers.get(number)

    def after_update(self, variables: list[Any]) -> None:
        """An optimizer was applied to these."""
        import tensorflow as tf

        if tf.executing_eagerly():
            for variable in variables:
                seen = self._variable(variable)
                if not seen.trainable:
                    self._compare_frozen(seen, variable)

    def _compare_frozen(self, seen: VariableSeen, variable: Any) -> None:
        """Did it move since an optimizer got it while frozen? Then start anew."""
        import tensorflow as tf

        before, seen.value_when_frozen = seen.value_when_frozen, None
        if before is None:
            return
        with tf.init_scope():
            after = _value(variable)
        if after is not None and after.shape == before.shape and bool((after != before).any()):
            seen.moved_when_frozen = True

    def _remember(self, number: int) -> None:
        seen = self.variables[number]
        value = _value(self._objects[number])
        if value is not None:
            seen.value_at_update = value

    def _compare_since_freeze(self, seen: VariableSeen, variable: Any) -> None:
        """Frozen, written by no line of the program since, and yet another: a compiled step went on training it."""
        after = _value(variable)
        if bool(getattr(variable, "trainable", True)) or after is None or after.shape != seen.value_at_freeze.shape:
            return
        if seen.applied and self._count_writes(variable) == seen.writes_at_freeze >= 0:
            seen.moved_when_frozen = seen.moved_when_frozen or bool((after != seen.value_at_freeze).any())

    def _compare(self) -> None:
        for number, seen in self.variables.items():
            if not bool(getattr(self._objects[number], "trainable", True)):
                self._compare_frozen(seen, self._objects[number])
            if seen.mask is not None and not seen.mask.moved:
                self._close_mask(seen, self._objects[number])
            if seen.value_at_freeze is not None:
                self._compare_since_freeze(seen, self._objects[number])
            if seen.value_at_update is None:
                continue
            after = _value(self._objects[number])
            if after is None or after.shape != seen.value_at_update.shape:
                continue
            same = after == seen.value_at_update
            seen.moved = not bool(same.all())


def _scale_of(optimizer: Any) -> float:
    try:
        return float(optimizer.dynamic_scale) or 1.0
    except (AttributeError, TypeError, ValueError):  # not built: no step has been scaled
        return 1.0


class _Later(list):  # type: ignore[type-arg]
    """Ops that are read when somebody looks at them."""

    def __init__(self, read: Callable[[], list[Op]]) -> None:
        super().__init__()
        self._read: Callable[[], list[Op]] | None = read

    def ready(self) -> list[Op]:
        if self._read is not None:
            read, self._read = self._read, None
            self.extend(read())
        return self


def _value(variable: Any) -> Any:
    try:
        value = variable.numpy()
    except Exception:  # made in a graph, or not built yet: nothing to compare
        return None
    return value if getattr(value, "dtype", None) is not None and value.dtype.kind in "fciub" else None
