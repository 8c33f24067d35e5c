"""Features of an optimizer that move entries of a variable although their gradient is zero."""

from __future__ import annotations

from typing import Any

_MOMENTS = ("Adam", "Nadam", "Adamax", "Lion", "Lamb", "Ftrl", "Muon", "Adafactor")


def features_that_move(optimizer: Any, variable: Any) -> tuple[str, ...]:
    """What this optimizer does beside following the gradient, in words; () when it does nothing of the kind.

    Measured for each optimizer of Keras 3 in `gradlint/knowledge/measured_optimizers.json`.
    """
    if optimizer is None:
        return ()
    kind = type(optimizer).__name__
    inner = getattr(optimizer, "inner_optimizer", None)
    if inner is not None:
        return features_that_move(inner, variable)
    found = []
    if _number(optimizer, "weight_decay"):
        found.append(f"weight decay of {kind}")
    if any(kind.startswith(name) for name in _MOMENTS):
        found.append(f"moments of {kind}")
    if _number(optimizer, "momentum"):
        found.append(f"momentum of {kind}")
    if getattr(optimizer, "use_ema", False):
        found.append(f"moving average of {kind}")
    if _number(optimizer, "gradient_accumulation_steps"):
        found.append(f"accumulated gradients of {kind}")
    if getattr(variable, "constraint", None) is not None:
        found.append("constraint of the variable")
    return tuple(found)


def _number(optimizer: Any, name: str) -> float:
    value = getattr(optimizer, name, None)
    try:
        return float(value) if value is not None else 0.0
    except (TypeError, ValueError, AttributeError):  # a schedule, a tensor of a graph
        return 1.0
