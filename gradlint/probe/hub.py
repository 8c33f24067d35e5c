"""The one place that all patches report to, while at least one watch is on.

It keeps what belongs to the process (ops, tapes, variables, layers) and hands each observation to the accounts of the
watches that are on. TensorFlow and Keras are patched when they have been imported, and not a moment earlier.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from gradlint.probe import tapes
from gradlint.probe.account import Account, GradientAsked
from gradlint.probe.dataflow import Op, of_graph
from gradlint.probe.intermediates import MOST_OPS, MOST_TENSORS, Intermediates, between
from gradlint.probe.names import identities, name_in, own_name
from gradlint.probe.patches import Patches, WhenImported
from gradlint.probe.places import Line, Stack, frames_here, here
from gradlint.probe.private_api import classes, func_graph_class, handles_of, tensor_id
from gradlint.probe.recorder import Recorder

_INSIDE_TENSORFLOW = (os.sep.join(("tensorflow", "python", "eager")), os.sep.join(("tensorflow", "python", "ops")))
_WRITES = (
    "assign",
    "assign_add",
    "assign_sub",
    "scatter_add",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
)
#: Eager ops that are looked at for a cut: those before were long ago.
_LOOK_BACK = 20_000
#: After so many gradients in a row without a fault, eager ops are recorded no more (until the next fault).
_QUIET = 200


class Hub:
    """State of the process while something is watched."""

    def __init__(self) -> None:
        self.accounts: list[Account] = []
        self.recorder = Recorder()
        self._patches = Patches()
        self._waiting: WhenImported | None = None
        self._local = threading.local()
        self._lock = threading.RLock()
        self._tapes: weakref.WeakSet[Any] = weakref.WeakSet()
        self._recent: deque[Any] = deque(maxlen=64)
        """Tapes that may be gone: a graph still shows what they recorded."""
        self._quiet = 0
        self._names: dict[int, str] = {}
        self.writes: dict[int, int] = {}
        """How often the program itself assigned to a variable, by the number of its resource."""
        self.written_in_graphs: set[int] = set()
        self.made: dict[int, Stack] = {}
        """Where a variable was made, by the number of its resource."""

    # Coming and going.

    def join(self, account: Account) -> None:
        """Tell this account what happens from here on."""
        with self._lock:
            self.accounts.append(account)
            if len(self.accounts) == 1:
                self._install()

    def leave(self, account: Account) -> None:
        """Tell it no more; the last one to leave restores every patch."""
        with self._lock:
            if account in self.accounts:
                self.accounts.remove(account)
                account.ran.update(op.stack for op in self.recorder.ops if op.stack)
                account.graphs.update((id(graph), graph) for graph in self.recorder.graphs.values())
            if not self.accounts:
                self._remove()

    def _install(self) -> None:
        self.recorder = Recorder()
        self._quiet = 0
        self._waiting = WhenImported(
            {
                "tensorflow": self._patch_tensorflow,
                "keras": self._patch_keras,
                "tf_keras": self._patch_tf_keras,
            }
        )
        self._waiting.install()

    def _remove(self) -> None:
        if self._waiting is not None:
            self._waiting.remove()
        self._patches.undo()
        self.recorder.close()

    @property
    def busy(self) -> bool:
        """Is the probe itself at work in this thread?"""
        return bool(getattr(self._local, "busy", 0))

    def _patch_tensorflow(self) -> None:
        tf = sys.modules["tensorflow"]
        self.recorder.start()
        tape = tf.GradientTape
        self._patches.replace(tape, "__enter__", self._wrap_enter)
        self._patches.replace(tape, "__exit__", self._wrap_exit)
        self._patches.replace(tape, "watch", self._wrap_watch)
        self._patches.replace(tape, "reset", self._wrap_reset)
        self._patches.replace(tape, "stop_recording", self._wrap_stop_recording)
        for method in ("gradient", "jacobian", "batch_jacobian"):
            self._patches.replace(tape, method, self._wrap_gradient)
        self._patches.replace(tf.autodiff.ForwardAccumulator, "jvp", self._wrap_jvp)
        self._patches.replace(tf, "gradients", self._wrap_tf_gradients)
        self._patches.replace(tf, "numpy_function", self._wrap_numpy_function)
        kinds = classes()
        for method in ("numpy", "__array__", "__float__", "__int__", "__bool__", "__index__", "__iter__", "tolist"):
            self._patches.replace(kinds.get("eager"), method, self._wrap_leaving)
        for name in ("variable", "lifted"):
            self._patches.replace(kinds.get(name), "__init__", self._wrap_variable)
        for method in _WRITES:
            self._patches.replace(kinds.get("writes"), method, self._wrap_write)
        self._patches.replace(kinds.get("function"), "__call__", self._wrap_function)
        self._patches.replace(kinds.get("function"), "get_concrete_function", self._wrap_concrete)

    def _patch_keras(self) -> None:
        keras = sys.modules["keras"]
        if getattr(keras, "backend", None) is not None and keras.backend.backend() != "tensorflow":
            for account in self.accounts:
                account.note(f"Keras runs on {keras.backend.backend()}: only its TensorFlow backend can be watched")
            return
        self._patches.replace(keras.Variable, "__init__", self._wrap_variable)
        for owner in keras.Variable.__mro__:
            self._patches.replace_setter(owner, "trainable", self._wrap_freeze)
        self._patches.replace(keras.optimizers.Optimizer, "apply", self._wrap_apply)
        # It overrides `apply`, and applies another optimizer in a branch of its own.
        self._patches.replace(getattr(keras.optimizers, "LossScaleOptimizer", None), "apply", self._wrap_apply)
        self._patches.replace(keras.layers.Layer, "__init__", self._wrap_layer)
        self._patches.replace(keras.layers.Layer, "__call__", self._wrap_layer_call)

    def _patch_tf_keras(self) -> None:
        tf_keras = sys.modules["tf_keras"]
        self._patches.replace(tf_keras.optimizers.Optimizer, "apply_gradients", self._wrap_apply_pairs)
        legacy = getattr(tf_keras.optimizers, "legacy", None)
        if legacy is not None:
            self._patches.replace(legacy.Optimizer, "apply_gradients", self._wrap_apply_pairs)
        self._patches.replace(tf_keras.layers.Layer, "__init__", self._wrap_layer)
        self._patches.replace(tf_keras.layers.Layer, "__call__", self._wrap_layer_call)

    # Tapes.

    def _wrap_enter(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __enter__(tape: Any) -> Any:
            if self.busy or _called_by_tensorflow():
                return original(tape)
            self._listen()
            result = original(tape)
            if not tapes.open_tapes() and not self._tapes:
                self.recorder.forget_tensors()
            tapes.opened(tape, _first(here()))
            self._tapes.add(tapes.seen(tape))
            self._recent.append(tapes.seen(tape))
            return result

        return __enter__

    def _wrap_exit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __exit__(tape: Any, *details: Any) -> Any:
            if not self.busy and not _called_by_tensorflow():
                tapes.closed(tape, _first(here()))
            return original(tape, *details)

        return __exit__

    def _wrap_watch(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def watch(tape: Any, tensor: Any) -> Any:
            result = original(tape, tensor)
            if not self.busy:
                flat = [part for part in _flat(tensor) if hasattr(part, "dtype")]
                numbers = [number for part in flat for number in identities(part)]
                tapes.watched(tape, numbers, len(self.recorder.ops), _first(here()))
            return result

        return watch

    def _wrap_reset(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def reset(tape: Any) -> Any:
            if self.busy:
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

    def _listen(self) -> None:
        """Another thread than the first, or after a quiet time: listen to this one."""
        import tensorflow as tf

        if self._quiet < _QUIET and not self.recorder.listens and tf.executing_eagerly():
            self.recorder.start()

    # Gradients.

    def _wrap_gradient(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self
        name = original.__name__

        def gradient(self: Any, *args: Any, **kwargs: Any) -> Any:
            if hub.busy or _called_by_tensorflow():
                return original(self, *args, **kwargs)
            target, sources, more = _bound(name, args, kwargs)
            was_recording = tapes.seen(self) in tapes.open_tapes()
            intermediates = hub._intermediates(target, sources) if name == "gradient" else None
            hub._local.busy = 1
            try:
                if intermediates is None:
                    result = original(self, *args, **kwargs)
                else:
                    result, intermediates.gradients = original(self, target, [sources, intermediates.tensors], **more)
            finally:
                hub._local.busy = 0
                if was_recording and not getattr(self, "_recording", True):
                    tapes.closed(self, None)
            filled = more.get("unconnected_gradients")
            hub._gradients_asked(self, target, sources, result, filled, intermediates, is_gradient=name == "gradient")
            return result

        return gradient

    def _intermediates(self, target: Any, sources: Any) -> Intermediates | None:
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
            if not any(account.locates_in_graphs for account in self.accounts):
                return None
        elif not self.recorder.listens:
            return None
        numbers = [number for source in _flat(sources) if hasattr(source, "dtype") for number in identities(source)]
        targets = [tensor_id(part) for part in _flat(target) if hasattr(part, "dtype")]
        try:
            return between(numbers, targets, self._ops(graph), most=MOST_TENSORS if graph is not None else None)
        except Exception:  # what cannot be looked at must not stop the program
            return None

    def _wrap_jvp(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def jvp(accumulator: Any, primals: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(accumulator, primals, *args, **kwargs)
            self._gradients_asked(None, None, primals, result, None)
            return result

        return jvp

    def _wrap_tf_gradients(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def gradients(ys: Any, xs: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(ys, xs, *args, **kwargs)
            if not self.busy:
                self._gradients_asked(None, ys, xs, result, None)
            return result

        return gradients

    def _gradients_asked(
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
        self._local.busy = 1
        self.recorder.pause()
        try:
            asked = self._asked(tape, target, sources, result, filled)
            asked.intermediates = intermediates
            asked.is_gradient = is_gradient
            bad = False
            for account in list(self.accounts):
                bad = account.gradients_asked(asked) or bad
            if not asked.in_graph:
                self.recorder.follow(asked.sources, asked.gradients)
            self._quiet = 0 if bad else self._quiet + 1
        finally:
            self.recorder.resume()
            self._local.busy = 0
        if self._quiet >= _QUIET:
            self.recorder.stop()

    def _asked(self, tape: Any, target: Any, sources: Any, result: Any, filled: Any) -> GradientAsked:
        import tensorflow as tf

        flat = _flat(sources)
        gradients = _flat(result)
        gradients += [None] * (len(flat) - len(gradients))
        targets = tuple(part for part in _flat(target) if hasattr(part, "dtype"))
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        in_function = graph is not None and isinstance(graph, func_graph_class())
        notes = tapes.seen(tape) if tape is not None else tapes.TapeSeen(0)
        watched = {tensor_id(v.handle) for v in tape.watched_variables() if hasattr(v, "handle")} if tape else set()
        frames = frames_here()
        return GradientAsked(
            stack=here(),
            tape=notes,
            targets=targets,
            sources=flat,
            gradients=gradients,
            names=[self._name(source, place, frames) for place, source in enumerate(flat)],
            made=[self.where_made(source) for source in flat],
            watched=watched,
            in_graph=in_function,
            in_old_graph=graph is not None and not in_function,
            graph=graph if in_function else None,
            has_tape=tape is not None,
            filled=filled is not None and str(getattr(filled, "value", filled)) == "zero",
            read_ops=self._reading(graph if in_function else None),
            graphs=self.recorder.graphs,
            replica=_replica(tf),
        )

    def _name(self, source: Any, place: int, frames: list[Any]) -> str:
        name = own_name(source)
        if name is not None:
            return name
        number = min(identities(source)) if hasattr(source, "dtype") else id(source)
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
        ops = self.recorder.ops[-_LOOK_BACK:]
        for each, captures in reversed(graphs):
            ops.extend(of_graph(each, tapes.recording_in(known, id(each)), captures))
        return ops

    # What leaves TensorFlow, what is made, what is called.

    def _wrap_leaving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def leaving(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.busy and _is_left_by_user():
                self.recorder.left(tensor)
            return original(tensor, *args, **kwargs)

        return leaving

    def _wrap_variable(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            if not hub.busy and not str(getattr(self, "name", "")).startswith("gradlint_"):
                stack = here()
                hub._note_made(self, stack)
                for account in list(hub.accounts):
                    account.variable_made(self, stack)

        return __init__

    def _wrap_numpy_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def numpy_function(*args: Any, **kwargs: Any) -> Any:
            if not self.busy:  # eagerly it hands arrays to the function without a method of the tensors being called
                for part in _flat(kwargs.get("inp", args[1] if len(args) > 1 else ())):
                    if hasattr(part, "dtype") and hasattr(part, "numpy"):
                        self.recorder.left(part)
            return original(*args, **kwargs)

        return numpy_function

    def _wrap_write(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self

        def write(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not hub.busy and not hub._is_applying:
                number = tensor_id(self.handle)
                hub.writes[number] = hub.writes.get(number, 0) + 1
                if not _is_eager():
                    hub.written_in_graphs.add(number)
            return original(self, *args, **kwargs)

        return write

    def _note_made(self, variable: Any, stack: Stack) -> None:
        try:
            for handle in handles_of(variable):
                self.made.setdefault(tensor_id(handle), stack)
        except Exception:  # not built yet
            return

    def where_made(self, source: Any) -> Stack:
        """The user's lines that made a variable, () when it was made before the watch."""
        for number in identities(source) if hasattr(source, "dtype") else ():
            if number in self.made:
                return self.made[number]
        return ()

    def _wrap_layer(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # Keras asks for the name of the first parameter
            original(self, *args, **kwargs)
            if not hub.busy:
                stack = here()
                running = hub._calls()[-1:]
                made_in = str(running[0].name) if running else "tape" if tapes.open_tapes() else ""
                owner = _self_of(frames_here(), self)
                for account in list(hub.accounts):
                    account.layer_made(self, stack, made_in, owner)

        return __init__

    def _calls(self) -> list[Any]:
        """The layers whose `call` runs in this thread, the outermost first."""
        if not hasattr(self._local, "calls"):
            self._local.calls = []
        return self._local.calls  # type: ignore[no-any-return]

    def _wrap_freeze(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def set_trainable(variable: Any, value: Any) -> None:
            was = bool(getattr(variable, "trainable", value))
            original(variable, value)
            if was and not value and not self.busy:
                stack = here()
                self._local.busy = 1
                try:
                    for account in list(self.accounts):
                        account.frozen(variable, stack, self)
                finally:
                    self._local.busy = 0

        return set_trainable

    def _wrap_layer_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            calls = hub._calls()
            outermost = calls[0] if calls else None
            calls.append(self)
            try:
                result = original(self, *args, **kwargs)
            finally:
                calls.pop()
            for account in hub.accounts:
                account.layer_called(self, outermost)
            return result

        return __call__

    def _wrap_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:
            if self.busy or not hasattr(function, "experimental_get_tracing_count"):
                return original(function, *args, **kwargs)
            before = _traces(function)
            result = original(function, *args, **kwargs)
            traced = _traces(function) != before
            for account in list(self.accounts):
                account.function_called(function, traced=traced, stack=here)
            return result

        return __call__

    def _wrap_concrete(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def get_concrete_function(function: Any, *args: Any, **kwargs: Any) -> Any:
            before = _traces(function)
            result = original(function, *args, **kwargs)
            if _traces(function) != before:
                for account in list(self.accounts):
                    account.function_called(function, traced=True, stack=here)
            return result

        return get_concrete_function

    # Updates.

    def _wrap_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self

        def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
            if hub.busy or hub._is_applying:
                return original(self, grads, trainable_variables)
            gradients = list(grads)
            variables = None if trainable_variables is None else list(trainable_variables)
            known = variables if variables is not None else list(getattr(self, "_trainable_variables", ()) or ())
            with hub._applying(self, gradients, known):
                return original(self, gradients, variables)

        return apply

    def _wrap_apply_pairs(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self

        def apply_gradients(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            if hub.busy or hub._is_applying:
                return original(self, grads_and_vars, *args, **kwargs)
            pairs = list(grads_and_vars)
            if any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in pairs):
                return original(self, pairs, *args, **kwargs)  # it will say what is wrong with them
            with hub._applying(self, [gradient for gradient, _ in pairs], [variable for _, variable in pairs]):
                return original(self, pairs, *args, **kwargs)

        return apply_gradients

    @property
    def _is_applying(self) -> bool:
        return bool(getattr(self._local, "applying", 0))

    @contextmanager
    def _applying(self, optimizer: Any, gradients: list[Any], variables: list[Any]) -> Iterator[None]:
        """Around an update: what the optimizer itself runs is not part of the program's flow."""
        masks, self.recorder.masks = self.recorder.masks, []
        self._update(lambda account, stack: account.before_update(optimizer, gradients, variables, stack, masks))
        self._local.applying = 1
        self.recorder.pause()
        try:
            yield
        finally:
            self.recorder.resume()
            self._local.applying = 0
        self._update(lambda account, stack: account.after_update(variables))

    def _update(self, tell: Callable[[Account, Stack], None]) -> None:
        self._local.busy = 1
        self.recorder.pause()
        try:
            stack = here()
            for account in list(self.accounts):
                tell(account, stack)
        finally:
            self.recorder.resume()
            self._local.busy = 0


def _bound(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Target, sources and the other arguments of a call of `tape.gradient` or one of its relatives, by name."""
    names = {
        "gradient": ("target", "sources", "output_gradients", "unconnected_gradients"),
        "jacobian": ("target", "sources", "unconnected_gradients"),
        "batch_jacobian": ("target", "source", "unconnected_gradients"),
    }[name]
    bound = {**dict(zip(names, args, strict=False)), **kwargs}
    return bound.pop("target", None), bound.pop(names[1], None), bound


def _is_eager() -> bool:
    tf = sys.modules.get("tensorflow")
    return tf is None or bool(tf.executing_eagerly())


def _self_of(frames: list[Any], layer: Any) -> Any:
    """The layer in whose constructor another layer is made."""
    for frame in frames:
        if frame.f_code.co_name == "__init__":
            owner = frame.f_locals.get("self")
            if owner is not layer and hasattr(owner, "trainable_weights"):
                return owner
    return None


def _first(stack: Stack) -> Line | None:
    return stack[0] if stack else None


def _flat(structure: Any) -> list[Any]:
    if isinstance(structure, dict):
        return [leaf for key in _sorted(structure) for leaf in _flat(structure[key])]
    if isinstance(structure, list | tuple):
        return [leaf for item in structure for leaf in _flat(item)]
    if structure is None or hasattr(structure, "dtype") or not isinstance(structure, Iterable):
        return [structure]
    try:
        return list(importlib.import_module("tensorflow").nest.flatten(structure))
    except Exception:
        return [structure]


def _sorted(mapping: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def _called_by_tensorflow() -> bool:
    """jacobian, jvp and custom gradients open tapes of their own, which the program did not write."""
    caller = sys._getframe(2).f_code.co_filename
    return any(part in caller for part in _INSIDE_TENSORFLOW)


def _is_left_by_user() -> bool:
    """Frameworks look at numbers all the time; only what a user's line asks for directly, or NumPy for it, counts."""
    frame = sys._getframe(2)
    while frame is not None:
        filename = frame.f_code.co_filename
        if f"{os.sep}tensorflow{os.sep}" in filename or f"{os.sep}numpy{os.sep}" in filename:
            if any(
                part in filename for part in ("script_ops", f"framework{os.sep}ops.py", "numpy", "resource_variable")
            ):
                frame = frame.f_back  # type: ignore[assignment]
                continue
            return False
        return f"{os.sep}keras{os.sep}src" not in filename or "convert_to_numpy" in frame.f_code.co_name
    return False


def _replica(tf: Any) -> Any:
    context = tf.distribute.get_replica_context()
    if context is None or not tf.distribute.has_strategy():
        return None
    identity = getattr(context, "replica_id_in_sync_group", None)
    return identity if isinstance(identity, int) else getattr(context, "_replica_id", None)


def _traces(function: Any) -> int:
    try:
        return int(function.experimental_get_tracing_count())
    except Exception:
        return -1


HUB = Hub()
