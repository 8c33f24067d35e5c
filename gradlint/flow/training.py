"""Training: `compile`, `fit` and `minimize` as the forward pass, loss and gradient that they run."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments, name_called
from gradlint.flow.asking import ask, ask_unknown
from gradlint.flow.instances import bind_method, class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import variable_set
from gradlint.flow.objects import (
    HeapObject,
)
from gradlint.flow.tapes import implicit_tape, run_under
from gradlint.flow.values import How, Kind, Value, is_literal


def run_compile(it: Interpreter, receiver: Value, arguments: Arguments) -> None:
    if not isinstance(receiver.ref, HeapObject):
        return
    optimizer = arguments.get(0, "optimizer")
    loss = arguments.get(1, "loss")
    if loss is not None:
        it.store.set((receiver.ref.id, "<loss>"), loss)
    if optimizer is not None and optimizer.kind is not Kind.LITERAL:
        it.store.set((receiver.ref.id, "<optimizer>"), optimizer)


def batch_of_data(it: Interpreter, name: str, node: ast.AST) -> Value:
    """A batch of a data set: unknown in structure, but no variable and on no tape."""
    value = it.parameter(name, node)
    value.how, value.label = How.OPAQUE_CALL, "batch"
    return value


def run_fit(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> None:
    """`model.fit(...)`: the forward pass, the compiled loss and a gradient, twice as in two steps."""
    if receiver.kind is Kind.INSTANCE:
        own = class_attribute(it, receiver.ref.cls, "train_step")
        if own is not None:
            data = batch_of_data(it, "data", node)
            for _ in range(2):
                it.call(bind_method(it, own, receiver, node), Arguments((data,)), node)
            return
    loss = it.store.get((receiver.ref.id, "<loss>")) if isinstance(receiver.ref, HeapObject) else None
    for _ in range(2):
        tape = implicit_tape(it, node, f"the tape of {name_called(node)}")
        target: Value | None = None

        def forward() -> None:
            nonlocal target
            x, y = it.fresh(Kind.TENSOR, node), it.fresh(Kind.TENSOR, node)
            predicted = it.call(receiver, Arguments((x,)), node)
            target = _compiled_loss(it, loss, y, predicted, node)

        run_under(it, [tape], forward, node, tape.name, sure=True)
        if target is not None:
            sources = variable_set(it, receiver, "trainable_variables", node)
            ask(it, "fit", [tape], target, sources, node, Arguments(()))


def _compiled_loss(it: Interpreter, loss: Value | None, y: Value, predicted: Value, node: ast.AST) -> Value:
    if loss is None:
        return it.opaque_call(node, (predicted,), "the compiled loss is not known")
    if loss.kind is Kind.LITERAL:
        return it.operation(node, (predicted, y), label=f"loss {loss.ref}")
    if loss.kind is Kind.CONTAINER:
        targets = it.items(loss).elements
        values = [_compiled_loss(it, each, y, predicted, node) for each in targets if not is_literal(each, None)]
        return it.operation(node, values, label="sum")
    outputs = it.leaves(predicted)
    value = it.call(loss, Arguments((y, outputs[0] if len(outputs) == 1 else predicted)), node)
    return value


def run_minimize(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    loss, variables, tape = arguments.get(0, "loss"), arguments.get(1, "var_list"), arguments.keywords.get("tape")
    if loss is None:
        return it.plain(node)
    if variables is None:
        ask_unknown(it, "minimize", loss, variables, node, "the variables to minimise over are not given")
        return it.plain(node)
    if tape is not None and tape.kind is Kind.TAPE:
        ask(it, "minimize", [tape.ref], loss, variables, node, Arguments(()))
        return it.plain(node)
    if loss.kind is Kind.FUNCTION:
        opened = implicit_tape(it, node, "the tape of minimize")
        target: Value | None = None

        def forward() -> None:
            nonlocal target
            target = it.call(loss, Arguments(()), node)

        run_under(it, [opened], forward, node, opened.name, sure=True)
        if variables.kind is Kind.FUNCTION:
            variables = it.call(variables, Arguments(()), node)
        if target is not None:
            ask(it, "minimize", [opened], target, variables, node, Arguments(()))
        return it.plain(node)
    ask_unknown(it, "minimize", loss, variables, node, "`minimize` is given a tensor and no tape")
    return it.plain(node)
