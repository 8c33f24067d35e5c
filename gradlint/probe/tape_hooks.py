"""What happens to tapes and what gradients are asked for, told to the accounts of the watches that are on."""

from __future__ import annotations

import os
import sys
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from gradlint.probe import tapes
from gradlint.probe.dataflow import Op, of_graph
from gradlint.probe.gradient_asked import GradientAsked
from gradlint.probe.hub_state import HubState, flat_parts
from gradlint.probe.intermediates import MOST_OPS, MOST_TENSORS, Intermediates, between
from gradlint.probe.names import identities, name_in, own_name
from gradlint.probe.patches import Patches
from gradlint.probe.places import Line, Stack, frames_here, here
from gradlint.probe.private_api import func_graph_class, tensor_id

_INSIDE_TENSORFLOW = (os.sep.join(("tensorflow", "python", "eager")), os.sep.join(("tensorflow", "python", "ops")))
#: Eager ops that are looked at for a cut: those before were long ago.
_LOOK_BACK = 20_000


class TapeHooks:
    """Stands around the methods of tf.GradientTape and its relatives."""

    def __init__(self, hub: HubState) -> None:
        self._hub = hub
        self._tapes: weakref.WeakSet[Any] = weakref.WeakSet()
        self._recent: deque[Any] = deque(maxlen=64)
        """Tapes that may be gone: a graph still shows what they recorded."""
        self._names: dict[int, str] = {}

    def install(self, patches: Patches) -> None:
        """Stand around them; `patches` undoes it."""
        tf = sys.modules["tensorflow"]
        tape = tf.GradientTape
        patches.replace(tape, "__enter__", self._wrap_enter)
        patches.replace(tape, "__exit__", self._wrap_exit)
        patches.replace(tape, "watch", self._wrap_watch)
        patches.replace(tape, "reset", self._wrap_reset)
        patches.replace(tape, "stop_recording", self._wrap_stop_recording)
        for method in ("gradient", "jacobian", "batch_jacobian"):
            patches.replace(tape, method, self._wrap_gradient)
        patches.replace(tf.autodiff.ForwardAccumulator, "jvp", self._wrap_jvp)
        patches.replace(tf, "gradients", self._wrap_tf_gradients)

    def _wrap_enter(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __enter__(tape: Any) -> Any:
            if self._hub.busy or _called_by_tensorflow():
                return original(tape)
            self._hub.listen()
            result = original(tape)
            if not tapes.open_tapes() and not self._tapes:
                self._hub.recorder.forget_tensors()
            tapes.opened(tape, _first(here()))
            self._tapes.add(tapes.seen(tape))
            self._recent.append(tapes.seen(tape))
            return result

        return __enter__

    def _wrap_exit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __exit__(tape: Any, *details: Any) -> Any:
            if not self._hub.busy and not _called_by_tensorflow():
                tapes.closed(tape, _first(here()))
            return original(tape, *details)

        return __exit__

    def _wrap_watch(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def watch(tape: Any, tensor: Any) -> Any:
            result = original(tape, tensor)
            if not self._hub.busy:
                flat = [part for part in flat_parts(tensor) if hasattr(part, "dtype")]
                numbers = [number for part in flat for number in identities(part)]
                tapes.watched(tape, numbers, len(self._hub.recorder.ops), _first(here()))
            return result

        return watch

    def _wrap_reset(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def reset(tape: Any) -> Any:
            if self._hub.busy:
                return original(tape)
            tapes.closed(tape, None)
            result = original(tape)
            tapes.opened(tape, _first(here()))
            return result

        return reset

    def _wrap_stop_recording(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def stop_recording(tape: Any) -> Any:
            with original(tape) as value:
                tapes.closed(tape, None)
                yield value
            tapes.opened(tape, None)

        return stop_recording

    def _wrap_gradient(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hooks, hub, name = self, self._hub, original.__name__

        def gradient(self: Any, *args: Any, **kwargs: Any) -> Any:
            if hub.busy or _called_by_tensorflow():
                return original(self, *args, **kwargs)
            target, sources, more = _bound(name, args, kwargs)
            was_recording = tapes.seen(self) in tapes.open_tapes()
            intermediates = hooks.intermediates(target, sources) if name == "gradient" else None
            hub.busy = True
            try:
                if intermediates is None:
                    result = original(self, *args, **kwargs)
                else:
                    result, intermediates.gradients = original(self, target, [sources, intermediates.tensors], **more)
            finally:
                hub.busy = False
                if was_recording and not getattr(self, "_recording", True):
                    tapes.closed(self, None)
            filled = more.get("unconnected_gradients")
            hooks.gradients_asked(self, target, sources, result, filled, intermediates, is_gradient=name == "gradient")
            return result

        return gradient

    def _wrap_jvp(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def jvp(accumulator: Any, primals: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(accumulator, primals, *args, **kwargs)
            self.gradients_asked(None, None, primals, result, None)
            return result

        return jvp

    def _wrap_tf_gradients(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def gradients(ys: Any, xs: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(ys, xs, *args, **kwargs)
            if not self._hub.busy:
                self.gradients_asked(None, ys, xs, result, None)
            return result

        return gradients

    def intermediates(self, target: Any, sources: Any) -> Intermediates | None:
        """The tensors between sources and target, whose gradients are to be asked for in the same call.

        Eagerly they are known while the recorder listens. In a compiled graph the question changes which tensors are
        kept, and with that the last bit of results: there it is asked in small graphs, where an account wants it.
        """
        import tensorflow as tf

        graph = None
        if not tf.executing_eagerly():
            graph = tf.compat.v1.get_default_graph()
            if not isinstance(graph, func_graph_class()) or tapes.graph_size(graph) > MOST_OPS:
                return None
            if not any(account.locates_in_graphs for account in self._hub.accounts):
                return None
        elif not self._hub.recorder.listens:
            return None
        numbers = [
            number for source in flat_parts(sources) if hasattr(source, "dtype") for number in identities(source)
        ]
        targets = [tensor_id(part) for part in flat_parts(target) if hasattr(part, "dtype")]
        try:
            return between(numbers, targets, self._ops(graph), most=MOST_TENSORS if graph is not None else None)
        except Exception:  # what cannot be looked at must not stop the program
            return None

    def gradients_asked(
        self,
        tape: Any,
        target: Any,
        sources: Any,
        result: Any,
        filled: Any,
        intermediates: Intermediates | None = None,
        *,
        is_gradient: bool = True,
    ) -> None:
        bad = False
        with self._hub.at_work():
            asked = self._asked(tape, target, sources, result, filled)
            asked.intermediates = intermediates
            asked.is_gradient = is_gradient
            for account in list(self._hub.accounts):
                bad = account.gradients_asked(asked) or bad
            if not asked.in_graph:
                self._hub.recorder.follow(asked.sources, asked.gradients)
        self._hub.listen_after(bad=bad)

    def _asked(self, tape: Any, target: Any, sources: Any, result: Any, filled: Any) -> GradientAsked:
        import tensorflow as tf

        flat = flat_parts(sources)
        gradients = flat_parts(result)
        gradients += [None] * (len(flat) - len(gradients))
        targets = tuple(part for part in flat_parts(target) if hasattr(part, "dtype"))
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        in_function = graph is not None and isinstance(graph, func_graph_class())
        notes = tapes.seen(tape) if tape is not None else tapes.TapeSeen(0)
        watched = {tensor_id(v.handle) for v in tape.watched_variables() if hasattr(v, "handle")} if tape else set()
        frames = frames_here()
        numbers = [identities(source) for source in flat]
        return GradientAsked(
            stack=here(),
            tape=notes,
            targets=targets,
            sources=flat,
            gradients=gradients,
            numbers=numbers,
            names=[self._name(source, min(numbers[place]), place, frames) for place, source in enumerate(flat)],
            made=[self._hub.where_made(each) for each in numbers],
            watched=watched,
            in_graph=in_function,
            in_old_graph=graph is not None and not in_function,
            graph=graph if in_function else None,
            has_tape=tape is not None,
            filled=filled is not None and str(getattr(filled, "value", filled)) == "zero",
            read_ops=self._reading(graph if in_function else None),
            graphs=self._hub.recorder.graphs,
            replica=_replica(tf),
        )

    def _name(self, source: Any, number: int, place: int, frames: list[Any]) -> str:
        name = own_name(source)
        if name is not None:
            return name
        if number not in self._names or not hasattr(source, "trainable"):
            self._names[number] = name_in(frames, source) or f"#{place}"
        return self._names[number]

    def _ops(self, graph: Any) -> list[Op]:
        """Everything that a target can have been computed with: eager ops, and those of the graphs around it."""
        return self._reading(graph)()

    def _reading(self, graph: Any) -> Callable[[], list[Op]]:
        """The same, to be read when it is needed; what tracing will forget is noted now."""
        graphs = []
        while graph is not None and isinstance(graph, func_graph_class()):
            graphs.append((graph, list(graph.captures)))
            graph = graph.outer_graph
        known = list({id(tape): tape for tape in (*self._tapes, *self._recent)}.values())
        return lambda: self._read(graphs, known)

    def _read(self, graphs: list[tuple[Any, list[Any]]], known: list[Any]) -> list[Op]:
        ops = self._hub.recorder.ops[-_LOOK_BACK:]
        for each, captures in reversed(graphs):
            ops.extend(of_graph(each, tapes.recording_in(known, id(each)), captures))
        return ops


def _bound(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Target, sources and the other arguments of a call of `tape.gradient` or one of its relatives, by name."""
    names = {
        "gradient": ("target", "sources", "output_gradients", "unconnected_gradients"),
        "jacobian": ("target", "sources", "unconnected_gradients"),
        "batch_jacobian": ("target", "source", "unconnected_gradients"),
    }[name]
    bound = {**dict(zip(names, args, strict=False)), **kwargs}
    return bound.pop("target", None), bound.pop(names[1], None), bound


def _first(stack: Stack) -> Line | None:
    return stack[0] if stack else None


def _called_by_tensorflow() -> bool:
    """jacobian, jvp and custom gradients open tapes of their own, which the program did not write."""
    caller = sys._getframe(2).f_code.co_filename
    return any(part in caller for part in _INSIDE_TENSORFLOW)


def _replica(tf: Any) -> Any:
    context = tf.distribute.get_replica_context()
    if context is None or not tf.distribute.has_strategy():
        return None
    identity = getattr(context, "replica_id_in_sync_group", None)
    return identity if isinstance(identity, int) else getattr(context, "_replica_id", None)
