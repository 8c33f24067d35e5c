"""What leaves TensorFlow, which variables are made and written, and which compiled functions run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from gradlint.probe.hub_state import HubState, flat_parts
from gradlint.probe.own_variables import PREFIX
from gradlint.probe.patches import Patches
from gradlint.probe.places import here
from gradlint.probe.private_api import classes, is_loaded_step, tensor_id

_LEAVING = ("numpy", "__array__", "__float__", "__int__", "__bool__", "__index__", "__iter__", "tolist")
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


class TensorHooks:
    """Stands around methods of tensors, variables and tf.function."""

    def __init__(self, hub: HubState) -> None:
        self._hub = hub

    def install(self, patches: Patches) -> None:
        """Stand around those of TensorFlow; `patches` undoes it."""
        kinds = classes()
        patches.replace(sys.modules["tensorflow"], "numpy_function", self._wrap_numpy_function)
        for method in _LEAVING:
            patches.replace(kinds.get("eager"), method, self._wrap_leaving)
        patches.replace(sys.modules["tensorflow"].saved_model, "save", self._wrap_save)
        for name in ("variable", "lifted"):
            patches.replace(kinds.get(name), "__init__", self._wrap_variable)
        for method in _WRITES:
            patches.replace(kinds.get("writes"), method, self._wrap_write)
        patches.replace(kinds.get("function"), "__call__", self._wrap_function)
        patches.replace(kinds.get("function"), "get_concrete_function", self._wrap_concrete)

    def install_keras(self, patches: Patches) -> None:
        """The variables of Keras 3 wrap those of TensorFlow."""
        patches.replace(sys.modules["keras"].Variable, "__init__", self._wrap_variable)

    def _wrap_leaving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def leaving(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._hub.busy and _is_left_by_user():
                self._hub.recorder.left(tensor)
            return original(tensor, *args, **kwargs)

        return leaving

    def _wrap_variable(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self._hub

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            if not hub.busy and not str(getattr(self, "name", "")).startswith(PREFIX):
                stack = here()
                hub.note_made(self, stack)
                for account in list(hub.accounts):
                    account.variables.made(self, stack)

        return __init__

    def _wrap_numpy_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def numpy_function(*args: Any, **kwargs: Any) -> Any:
            if (
                not self._hub.busy
            ):  # eagerly it hands arrays to the function without a method of the tensors being called
                for part in flat_parts(kwargs.get("inp", args[1] if len(args) > 1 else ())):
                    if hasattr(part, "dtype") and hasattr(part, "numpy"):
                        self._hub.recorder.left(part)
            return original(*args, **kwargs)

        return numpy_function

    def _wrap_save(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What is traced to be saved is not looked at: a SavedModel may hold no variable that came in meanwhile."""

        def save(*args: Any, **kwargs: Any) -> Any:
            was_busy, self._hub.busy = self._hub.busy, True
            try:
                return original(*args, **kwargs)
            finally:
                self._hub.busy = was_busy

        return save

    def _wrap_write(self, original: Callable[..., Any]) -> Callable[..., Any]:
        hub = self._hub

        def write(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not hub.busy and not hub.applying:
                number = tensor_id(self.handle)
                hub.writes[number] = hub.writes.get(number, 0) + 1
                if not _is_eager():
                    hub.written_in_graphs.add(number)
            return original(self, *args, **kwargs)

        return write

    def _wrap_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:
            if self._hub.busy or not hasattr(function, "experimental_get_tracing_count"):
                return original(function, *args, **kwargs)
            before = _traces(function)
            result = original(function, *args, **kwargs)
            traced = _traces(function) != before and not is_loaded_step(function)
            for account in list(self._hub.accounts):
                account.function_called(function, traced=traced, stack=here)
            return result

        return __call__

    def _wrap_concrete(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def get_concrete_function(function: Any, *args: Any, **kwargs: Any) -> Any:
            before = _traces(function)
            result = original(function, *args, **kwargs)
            if _traces(function) != before:
                for account in list(self._hub.accounts):
                    account.function_called(function, traced=True, stack=here)
            return result

        return get_concrete_function


def _is_eager() -> bool:
    tf = sys.modules.get("tensorflow")
    return tf is None or bool(tf.executing_eagerly())


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


def _traces(function: Any) -> int:
    try:
        return int(function.experimental_get_tracing_count())
    except Exception:
        return -1
