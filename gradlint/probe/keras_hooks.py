"""What happens to Keras layers, to `trainable` and in optimizers, told to the accounts of the watches that are on."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradlint.probe import tapes
from gradlint.probe.hub_state import HubState
from gradlint.probe.patches import Patches
from gradlint.probe.places import frames_here, here

_NUMBERS = itertools.count(1)


class _Calls(threading.local):
    """The layers whose `call` runs in this thread, the outermost first, each with the number of the call."""

    def __init__(self) -> None:
        self.running: list[tuple[Any, int]] = []

    def innermost(self) -> tuple[int, int] | None:
        """Who runs (a layer, or 0 for a tape that is open) and in which of its runs; None when nothing does."""
        if self.running:
            layer, number = self.running[-1]
            return id(layer), number
        recording = tapes.open_tapes()
        return (0, recording[-1].number) if recording else None


class KerasHooks:
    """Stands around layers and optimizers of Keras 3 and of tf_keras."""

    def __init__(self, hub: HubState) -> None:
        self._hub = hub
        self._calls = _Calls()

    def install(self, patches: Patches) -> bool:
        """Stand around those of Keras 3; False where it runs on another backend. `patches` undoes it."""
        keras = sys.modules["keras"]
        if getattr(keras, "backend", None) is not None and keras.backend.backend() != "tensorflow":
            for account in self._hub.accounts:
                account.note(f"Keras runs on {keras.backend.backend()}: only its TensorFlow backend can be watched")
            return False
        for owner in keras.Variable.__mro__:
            patches.replace_setter(owner, "trainable", self._wrap_freeze)
        patches.replace(keras.optimizers.Optimizer, "apply", self._wrap_apply)
        # It overrides `apply`, and applies another optimizer in a branch of its own.
        patches.replace(getattr(keras.optimizers, "LossScaleOptimizer", None), "apply", self._wrap_apply)
        self._install_layers(patches, keras)
        return True

    def install_tf_keras(self, patches: Patches) -> None:
        """The same for tf_keras, whose variables are those of TensorFlow."""
        tf_keras = sys.modules["tf_keras"]
        patches.replace(tf_keras.optimizers.Optimizer, "apply_gradients", self._wrap_apply_pairs)
        legacy = getattr(tf_keras.optimizers, "legacy", None)
        if legacy is not None:
            patches.replace(legacy.Optimizer, "apply_gradients", self._wrap_apply_pairs)
        self._install_layers(patches, tf_keras)

    def _install_layers(self, patches: Patches, package: Any) -> None:
        patches.replace(package.layers.Layer, "__init__", self._wrap_layer)
        patches.replace(package.layers.Layer, "__call__", self._wrap_layer_call)

    def _wrap_layer(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hooks, hub = self, self._hub

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # Keras asks for the name of the first parameter
            original(self, *args, **kwargs)
            if not hub.busy:
                stack = here()
                made_in = hooks._calls.innermost()
                owner = _self_of(frames_here(), self)
                for account in list(hub.accounts):
                    account.layers.made(self, stack, made_in, owner)

        return __init__

    def _wrap_freeze(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def set_trainable(variable: Any, value: Any) -> None:
            was = bool(getattr(variable, "trainable", value))
            original(variable, value)
            if was and not value and not self._hub.busy:
                stack = here()
                with self._hub.at_work():
                    for account in list(self._hub.accounts):
                        account.variables.set_frozen(variable, stack, self._hub)

        return set_trainable

    def _wrap_layer_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hooks, hub = self, self._hub

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            calls = hooks._calls.running
            outermost = calls[0][0] if calls else None
            calls.append((self, next(_NUMBERS)))
            try:
                result = original(self, *args, **kwargs)
            finally:
                calls.pop()
            for account in hub.accounts:
                account.layers.called(self, outermost)
            return result

        return __call__

    def _wrap_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hooks, hub = self, self._hub

        def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
            if hub.busy or hub.applying:
                return original(self, grads, trainable_variables)
            gradients = list(grads)
            variables = None if trainable_variables is None else list(trainable_variables)
            known = variables if variables is not None else list(getattr(self, "_trainable_variables", ()) or ())
            with hooks._applying(self, gradients, known):
                return original(self, gradients, variables)

        return apply

    def _wrap_apply_pairs(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hooks, hub = self, self._hub

        def apply_gradients(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            if hub.busy or hub.applying:
                return original(self, grads_and_vars, *args, **kwargs)
            pairs = list(grads_and_vars)
            if any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in pairs):
                return original(self, pairs, *args, **kwargs)  # it will say what is wrong with them
            with hooks._applying(self, [gradient for gradient, _ in pairs], [variable for _, variable in pairs]):
                return original(self, pairs, *args, **kwargs)

        return apply_gradients

    @contextmanager
    def _applying(self, optimizer: Any, gradients: list[Any], variables: list[Any]) -> Iterator[None]:
        """Around an update: what the optimizer itself runs is not part of the program's flow."""
        recorder = self._hub.recorder
        masks, recorder.masks = recorder.masks, []
        with self._hub.at_work():
            stack = here()
            for account in list(self._hub.accounts):
                account.variables.before_update(
                    optimizer, gradients, variables, stack, masks, self._hub, account.gradients.given
                )
        self._hub.applying = True
        recorder.pause()
        try:
            yield
        finally:
            recorder.resume()
            self._hub.applying = False
        with self._hub.at_work():
            for account in list(self._hub.accounts):
                account.variables.after_update(variables)


def _self_of(frames: list[Any], layer: Any) -> Any:
    """The layer in whose constructor another layer is made."""
    for frame in frames:
        if frame.f_code.co_name == "__init__":
            owner = frame.f_locals.get("self")
            if owner is not layer and hasattr(owner, "trainable_weights"):
                return owner
    return None
