"""The flow analysis: one abstract interpretation per module, from values to events.

`analyse` is all that the engine needs. `values.py` holds the value graph, `interpreter.py` the
state, `statements.py`, `expressions.py`, `calls.py` and `library.py` run code, `tapes.py` opens
and asks tapes, `reach.py` walks the graph, `gradients.py` concludes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradlint.flow_report import GradientDecision

if TYPE_CHECKING:
    from gradlint.config import Settings
    from gradlint.flow.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class FlowResult:
    """Events for rules, and decisions for `gradlint flow`."""

    events: list[object] = field(default_factory=list)
    decisions: list[GradientDecision] = field(default_factory=list)


def connected(it: Interpreter) -> Interpreter:
    """Give the interpreter its evaluator and caller."""
    from functools import partial

    from gradlint.flow.attributes import get_attribute
    from gradlint.flow.calls import call
    from gradlint.flow.expressions import evaluate
    from gradlint.flow.statements import run_body

    it.evaluate, it.run_body = partial(evaluate, it), partial(run_body, it)
    it.call, it.get_attribute = partial(call, it), partial(get_attribute, it)
    return it


def analyse(tree: ast.Module, text: str, settings: Settings) -> FlowResult:
    """What happens to gradients in this module."""
    from gradlint.flow.relevance import TRIGGERS, Relevance, is_worth_running

    if not is_worth_running(text):
        return FlowResult()
    relevance = Relevance(tree)
    if not relevance.relevant and not any(trigger in text for trigger in TRIGGERS):
        return FlowResult()
    from gradlint.flow.entries import run_module
    from gradlint.flow.gradients import Gradients
    from gradlint.flow.interpreter import Interpreter
    from gradlint.flow.places import Places
    from gradlint.flow.symbols import canonical

    it = connected(Interpreter(tree, relevance))
    if any(mark in text for mark in ("disable_eager_execution", "disable_v2_behavior", "Session(", ".as_default()")):
        it.eager = None
    it.differentiable = frozenset(canonical(name) for name in settings.differentiable)
    it.nondifferentiable = frozenset(canonical(name) for name in settings.nondifferentiable)
    it.keras_3 = settings.keras == 3 and "tf_keras" not in text
    it.numpy_behaviour = "enable_numpy_behavior" in text
    it.registers_gradients = any(
        mark in text for mark in ("RegisterGradient", "override_gradient", "gradient_override")
    )
    it.runs_eagerly = "run_eagerly" in text
    it.compiles_xla = "jit_compile=True" in text or "experimental_compile=True" in text
    it.never_traces = "run_functions_eagerly" in text
    run_module(it)
    gradients = Gradients(it, Places(text))
    gradients.conclude()
    return FlowResult(gradients.events, gradients.decisions)
