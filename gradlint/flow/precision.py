"""Precision: gradients of float16, which need a loss that is scaled."""

from __future__ import annotations

from gradlint.flow.applied import applied_calls
from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.values import Kind
from gradlint.flow.zero_events import LossNotScaled

_SETTERS = ("set_global_policy", "set_policy", "set_dtype_policy")


def note_policy(it: Interpreter, symbol: str, arguments: Arguments) -> None:
    """`keras.mixed_precision.set_global_policy("mixed_float16")`."""
    given = arguments.positional[0] if arguments.positional else next(iter(arguments.keywords.values()), None)
    if it.open_code:
        return  # a test that sets it for a while
    if symbol.endswith(_SETTERS) and given is not None and given.kind is Kind.LITERAL:
        it.half_policy = str(given.ref) if given.ref == "mixed_float16" else ""


def judge_precision(it: Interpreter) -> None:
    """Gradient calls of a file that computes in float16 and scales no loss."""
    if not it.half_policy or it.relevance.scales_loss:
        return
    for asked in it.asked:
        layers = any(source.value.kind is Kind.VARIABLES for source in asked.sources)
        if asked.node in applied_calls(it) and layers:
            it.note(LossNotScaled, asked.node, it.half_policy, certain=False, frame=asked.frame)
