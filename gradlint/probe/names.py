"""What to call a variable: its Keras path, its own name, or the name by which the program knows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

from gradlint.probe.private_api import handles_of, tensor_id

_NAMELESS = ("Variable", "variable")
_DEEPEST = 3
_MOST = 2000


def own_name(source: Any) -> str | None:
    """The name that the source carries itself; None for a tensor, and for a variable that nobody named."""
    path = getattr(source, "path", None)
    if isinstance(path, str):
        return None if path in _NAMELESS else path
    if hasattr(source, "trainable") and hasattr(source, "handle"):
        name = str(source.name).split(":")[0]
        return None if name in _NAMELESS else name
    return None


def name_in(frames: Iterable[FrameType], source: Any) -> str | None:
    """The name or attribute path by which one of these frames knows the source."""
    numbers = identities(source)
    for frame in frames:
        for names in (frame.f_locals, frame.f_globals):
            found = path_to(names, numbers)
            if found is not None:
                return found
            if names is frame.f_globals:
                break
    return None


def identities(source: Any) -> frozenset[int]:
    """Numbers that a variable, the Keras variable around it, and its copies on replicas have in common."""
    handles = handles_of(source) if hasattr(source, "trainable") else []
    return frozenset(map(tensor_id, handles)) if handles else frozenset({tensor_id(source)})


def path_to(names: Mapping[str, Any], numbers: frozenset[int]) -> str | None:
    """The shortest path from one of these names to the source: `w`, `model.scale`, `layers[0].kernel`."""
    ring: list[tuple[str, Any]] = [
        (name, value) for name, value in list(names.items()) if not name.startswith(("__", "gradlint_"))
    ]
    met: set[int] = set()
    for _ in range(_DEEPEST):
        following: list[tuple[str, Any]] = []
        for name, value in ring[:_MOST]:
            if _is(value, numbers):
                return name
            if id(value) not in met:
                met.add(id(value))
                following.extend(_parts(name, value))
        ring = following
    return None


def _is(value: Any, numbers: frozenset[int]) -> bool:
    kind = type(value).__module__ or ""
    if not kind.startswith(("tensorflow", "keras", "tf_keras")):
        return False
    if not (hasattr(value, "trainable") or hasattr(value, "dtype")) or hasattr(value, "layers"):
        return False
    try:
        return not numbers.isdisjoint(identities(value))
    except Exception:  # objects that pretend to have a handle
        return False


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(f"{name}[{key!r}]", part) for key, part in list(value.items())[:50]]
    if isinstance(value, list | tuple):
        return [(f"{name}[{place}]", part) for place, part in enumerate(value[:50])]
    attributes = getattr(value, "__dict__", None)
    if not isinstance(attributes, dict) or isinstance(value, type) or hasattr(value, "__path__"):
        return []
    if (type(value).__module__ or "").startswith("numpy") or type(value).__name__ == "module":
        return []
    return [(f"{name}.{key}", part) for key, part in list(attributes.items())[:100] if not key.startswith("_")]
