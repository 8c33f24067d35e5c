"""The flow analysis: one abstract interpretation per module, from values to events.

`analyse` is all that the engine needs. `values.py` holds the value graph, `interpreter.py` the
state, `statements.py`, `expressions.py`, `calls.py` and `library.py` run code, `tapes.py` opens
and asks tapes, `reach.py` walks the graph, `gradients.py` concludes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradlint.flow_report import GradientDecision

if TYPE_CHECKING:
    from gradlint.config import Settings
    from gradlint.flow.interpreter import Interpreter
    from gradlint.flow.project import Project
    from gradlint.flow.sources import Source


@dataclass(frozen=True, slots=True)
class FlowResult:
    """Events for rules, and decisions for `gradlint flow`."""

    events: list[object] = field(default_factory=list)
    decisions: list[GradientDecision] = field(default_factory=list)
    sources: dict[int, Source] = field(default_factory=dict)
    """The files that were run, by the number in their places."""


def connected(it: Interpreter) -> Interpreter:
    """Give the interpreter its evaluator and caller."""
    from functools import partial

    from gradlint.flow.attributes import get_attribute
    from gradlint.flow.calls import call
    from gradlint.flow.expressions import evaluate
    from gradlint.flow.modules import resolve, starred
    from gradlint.flow.statements import run_body

    it.evaluate, it.run_body = partial(evaluate, it), partial(run_body, it)
    it.resolve, it.starred = partial(resolve, it), partial(starred, it)
    it.call, it.get_attribute = partial(call, it), partial(get_attribute, it)
    return it


def analyse(source: Source, settings: Settings, project: Project) -> FlowResult:
    """What happens to gradients in this file, modules of the project that it needs included."""
    from gradlint.flow.trained_names import is_program, is_test

    text = source.file.text
    path = os.path.abspath(source.file.filename)
    runs = is_program(path, text) or project.trained_names.runs_at_once(source, path)
    leads = (runs or is_test(path)) and project.trained_names.leads(path, text)
    trained = project.trained_names.of_imports(source, path) if leads else []
    from gradlint.flow.entries import run_module
    from gradlint.flow.gradients import Gradients
    from gradlint.flow.interpreter import Interpreter
    from gradlint.flow.places import Places
    from gradlint.flow.state import FUEL_FOR_IMPORTS_OF_PROGRAM
    from gradlint.knowledge.symbols import canonical

    it = connected(Interpreter(source, project.sources))
    it.relevance.add_training(trained)
    it.follows_imports = leads or project.trained_names.leads(path, text, far=0)
    it.is_program = runs
    if runs:
        it.fuel_for_imports = it.import_fuel = FUEL_FOR_IMPORTS_OF_PROGRAM
    it.differentiable = frozenset(canonical(name) for name in settings.differentiable)
    it.nondifferentiable = frozenset(canonical(name) for name in settings.nondifferentiable)
    it.keras_3 = settings.keras == 3
    it.learn_from(source)
    run_module(it)
    it.is_over = True
    gradients = Gradients(it, Places(it.sources_run))
    gradients.conclude()
    return FlowResult(gradients.events, gradients.decisions, it.sources_run)
