"""Training: `compile`, `fit` and `minimize` as the forward pass, loss and gradient that they run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from gradlint.flow.arguments import Arguments, name_called
from gradlint.flow.asking import ask, ask_unknown
from gradlint.flow.compared import judge_loss, judge_metric, kind_of_loss
from gradlint.flow.heads import judge_heads
from gradlint.flow.hooks import run_hooks
from gradlint.flow.instances import bind_method, class_attribute
from gradlint.flow.interpreter import Interpreter, in_turn
from gradlint.flow.layer_faults import judge_inputs
from gradlint.flow.lifecycle import judge_fit, note_compiled, note_minimize
from gradlint.flow.loss_functions import handing_on, judge_columns, judge_handed_on, judge_loss_function
from gradlint.flow.losses import losses_of
from gradlint.flow.members import mark_built, members_within, variable_set
from gradlint.flow.objects import Function, HeapObject, LibraryObject, Tape
from gradlint.flow.optimizers import optimizer_by_name
from gradlint.flow.sequences import element_of
from gradlint.flow.statistics import note_statistics
from gradlint.flow.tapes import implicit_tape, run_under, watch
from gradlint.flow.tracing import forget_fit, note_fit, note_refit
from gradlint.flow.values import TRUE, How, Kind, Value, alternatives, is_literal


def _ask(it: Interpreter, asked: str, tapes: list[Tape], target: Value, sources: Value, node: ast.AST) -> None:
    """Ask for gradients and apply them; where none comes that raises, which may be what a test wants to see."""
    if not it.expected:
        ask(it, asked, tapes, target, sources, node, Arguments(()))


def run_compile(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> None:
    """`model.compile(...)`, on a model or on something that is not known and called so."""
    optimizer = arguments.get(0, "optimizer")
    loss = arguments.get(1, "loss")
    if loss is not None and not is_literal(loss, None):
        it.compiled.append((receiver, loss, node))
        it.loss_nodes[loss.serial] = _written_loss(node)
        judge_metric(it, loss, _written_loss(node))
        judge_heads(it, receiver, arguments, node)
    if not isinstance(receiver.ref, HeapObject):
        return
    if loss is not None:
        it.store.set((receiver.ref.id, "<loss>"), loss)
    forget_fit(it, receiver)
    note_compiled(it, receiver.ref)
    symbol = optimizer_by_name(it, optimizer)
    if symbol:
        optimizer = it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), symbol))
    if optimizer is not None and optimizer.kind is not Kind.LITERAL:
        it.store.set((receiver.ref.id, "<optimizer>"), optimizer)
    eagerly = arguments.keywords.get("run_eagerly")
    if eagerly is not None:
        it.store.set((receiver.ref.id, "<eagerly>"), eagerly)


def _written_loss(node: ast.AST) -> ast.AST:
    """The expression of the loss in a call of `compile`."""
    if not isinstance(node, ast.Call):
        return node
    named = next((each.value for each in node.keywords if each.arg == "loss"), None)
    return named or (node.args[1] if len(node.args) > 1 else node)


def batch_of_data(it: Interpreter, name: str, node: ast.AST) -> Value:
    """A batch of a data set: unknown in structure, but no variable and on no tape."""
    value = it.parameter(name, node)
    value.how, value.label = How.OPAQUE_CALL, "batch"
    return value


def run_fit(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> None:
    """`model.fit(...)`: the forward pass, the compiled loss and a gradient, twice as in two steps."""
    if isinstance(receiver.ref, HeapObject):
        it.fitted.add(receiver.ref.id)
    given = arguments.get(0, "x")
    if given is not None:
        judge_inputs(it, receiver, given)
    note_refit(it, receiver, node)
    note_statistics(it, receiver, node)
    held = it.store.get((receiver.ref.id, "<optimizer>")) if isinstance(receiver.ref, HeapObject) else None
    if receiver.kind in (Kind.LAYER, Kind.INSTANCE) and class_attribute_of(it, receiver, "train_step") is None:
        judge_fit(it, receiver, held, variable_set(it, receiver, "trainable_variables", node), node)
    _fit(it, receiver, arguments, node)
    mark_built(it, receiver)
    note_fit(it, receiver, members_within(it, receiver)[0], node)
    if receiver.kind in (Kind.LAYER, Kind.INSTANCE):
        run_hooks(it, receiver, arguments.keywords.get("callbacks"), node)


def class_attribute_of(it: Interpreter, receiver: Value, name: str) -> Value | None:
    """A method of the receiver's class in this file."""
    return class_attribute(it, receiver.ref.cls, name) if receiver.kind is Kind.INSTANCE else None


def _batch_of(it: Interpreter, whole: Value | None, loss: Value | None, node: ast.AST) -> Value:
    """A batch of the targets that `fit` was given: new tensors, of the numbers that the whole has.

    Keras gives targets of one axis another one, but not for a loss class of the file (measured with Keras 3.15).
    """
    batch = it.fresh(Kind.TENSOR, node, label="y_true")
    batch.operands = (whole,) if whole is not None and whole.kind is Kind.PLAIN else ()
    as_given = loss is not None and loss.kind is Kind.INSTANCE
    if whole is not None and whole.shape and (len(whole.shape) > 1 or as_given):
        batch.shape = (None, *whole.shape[1:])
    return batch


def _data_of(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """What `train_step` is given: batches of the arrays that `fit` was given, where they are known."""
    whole = [arguments.get(0, "x"), arguments.get(1, "y")]
    if whole[0] is not None and isinstance(whole[0].ref, LibraryObject) and whole[0].ref.keyword("<batch>") is not None:
        return element_of(it, whole[0], node)
    if all(each is not None and each.shape for each in whole) and arguments.get(None, "sample_weight") is None:
        return it.tuple_of((_batch_like(it, each, node) for each in whole if each is not None), node)
    return batch_of_data(it, "data", node)


def _batch_like(it: Interpreter, whole: Value, node: ast.AST) -> Value:
    batch = it.fresh(Kind.TENSOR, node, label="dataset element")
    assert whole.shape is not None
    batch.shape = (None, *whole.shape[1:])
    return batch


def _fit(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> None:
    if receiver.kind is Kind.INSTANCE:
        own = class_attribute(it, receiver.ref.cls, "train_step")
        if own is not None:
            data = _data_of(it, arguments, node)
            for _ in range(2):
                with in_turn(it):
                    it.call(bind_method(it, own, receiver, node), Arguments((data,)), node)
            return
    loss = it.store.get((receiver.ref.id, "<loss>")) if isinstance(receiver.ref, HeapObject) else None
    for _ in range(2):
        tape = implicit_tape(it, node, f"the tape of {name_called(node)}")
        target: Value | None = None

        def forward() -> None:
            nonlocal target
            start = it.tick()
            x, y = it.fresh(Kind.TENSOR, node), _batch_of(it, arguments.get(1, "y"), loss, node)
            predicted = it.call(receiver, Arguments((x,), {"training": TRUE}), node)
            own = class_attribute(it, receiver.ref.cls, "compute_loss") if receiver.kind is Kind.INSTANCE else None
            if own is not None:
                target = _own_loss(it, own, receiver, {"x": x, "y": y, "y_pred": predicted}, node)
            else:
                target = _compiled_loss(it, loss, y, predicted, node)
            if it.relevance.adds_losses:
                # What layers add by themselves, and perhaps a regularizer of any weight.
                added = losses_of(it, receiver, node, regularised=it.relevance.has_regularizers, since=start)
                target = it.operation(node, (target, added), label="builtins.sum")

        with _in_graph(it, receiver):
            run_under(it, [tape], forward, node, tape.name, sure=True)
        if target is not None:
            sources = variable_set(it, receiver, "trainable_variables", node)
            _ask(it, "fit", [tape], target, sources, node)


def _own_loss(it: Interpreter, method: Value, receiver: Value, given: dict[str, Value], node: ast.AST) -> Value:
    """`compute_loss` of the model's own class, called as `train_step` of Keras calls it."""
    if not isinstance(method.ref, Function):
        return it.opaque_call(node, (receiver, *given.values()), "`compute_loss` cannot be seen")
    spec = method.ref.node.args
    accepted = {each.arg for each in (*spec.args, *spec.kwonlyargs)}
    keywords = given if spec.kwarg is not None else {name: each for name, each in given.items() if name in accepted}
    return it.call(bind_method(it, method, receiver, node), Arguments((), keywords), node)


@contextmanager
def _in_graph(it: Interpreter, receiver: Value) -> Iterator[None]:
    """`fit` traces a graph, unless the model was compiled with `run_eagerly`."""
    eagerly = it.store.get((receiver.ref.id, "<eagerly>")) if isinstance(receiver.ref, HeapObject) else None
    frame, before = it.frame, it.frame.graph
    frame.graph = before or eagerly is None or is_literal(eagerly, False)
    try:
        yield
    finally:  # running out of fuel leaves through here, and the frame may be the module's
        frame.graph = before


def judge_compiled(it: Interpreter) -> None:
    """Losses that were compiled for a `fit` that nothing in the file calls: trained with the model, or on their own."""
    if it.relevance.only_evaluates:
        return
    for receiver, loss, node in it.compiled:
        if isinstance(receiver.ref, HeapObject):
            if receiver.ref.id not in it.fitted and receiver.kind in (Kind.LAYER, Kind.INSTANCE):
                run_fit(it, receiver, Arguments(()), node)
        elif receiver.is_opaque:
            _judge_loss(it, loss, node)


def _judge_loss(it: Interpreter, loss: Value, node: ast.AST) -> None:
    """The gradient of a loss with respect to the predictions of a model that is not known."""
    tape = implicit_tape(it, node, "the tape of fit")
    y, predicted = it.fresh(Kind.TENSOR, node), it.fresh(Kind.TENSOR, node, label="y_pred")
    target: Value | None = None

    def forward() -> None:
        nonlocal target
        watch(it, [tape], predicted, node)
        target = _compiled_loss(it, loss, y, predicted, node)

    run_under(it, [tape], forward, node, tape.name, sure=True)
    if target is not None:
        _ask(it, "fit", [tape], target, predicted, node)


def _compiled_loss(
    it: Interpreter, loss: Value | None, y: Value, predicted: Value, node: ast.AST, alone: bool = True
) -> Value:
    if loss is None:
        return it.opaque_call(node, (predicted,), "the compiled loss is not known")
    if loss.kind is Kind.CONTAINER:
        values = [
            _compiled_loss(it, each, y, output, node, alone=len(it.leaves(loss)) < 2)
            for each, output in _with_outputs(it, loss, predicted)
            if not is_literal(each, None)
        ]
        return it.operation(node, values, label="builtins.sum")
    outputs = it.leaves(predicted)
    predicted = outputs[0] if len(outputs) == 1 else predicted
    given = Arguments((y, predicted))
    kind = kind_of_loss(it, loss)
    judge_loss_function(it, loss, alone)
    if kind is not None and loss.kind is not Kind.LIBRARY:
        judge_loss(it, kind, y, predicted, it.loss_nodes.get(loss.serial, node))
    if loss.kind is Kind.LITERAL:
        return it.operation(node, (predicted, y), label=f"loss {loss.ref}")
    if all(each.kind in (Kind.SYMBOL, Kind.LIBRARY) for each in alternatives(loss) or [loss]):
        node = it.loss_nodes.get(loss.serial, node)  # what is wrong with it stands where it was given
    with handing_on(it, predicted):
        computed = it.call(loss, given, node)
        if alone:
            judge_handed_on(it, loss, computed, predicted)
    if loss.kind in (Kind.FUNCTION, Kind.INSTANCE):
        judge_columns(it, predicted, computed)
    return computed


def _with_outputs(it: Interpreter, losses: Value, predicted: Value) -> list[tuple[Value, Value]]:
    """Each loss of a list or dict with the output that it judges: by key, by place, or all of them."""
    asked = it.items(losses)
    if predicted.kind is Kind.CONTAINER:
        made = it.items(predicted)
        if asked.keys is not None and made.keys is not None:
            by_key = dict(zip(made.keys, made.elements, strict=True))
            return [(each, by_key.get(key, predicted)) for key, each in zip(asked.keys, asked.elements, strict=True)]
        if asked.keys is None and asked.exact and made.exact and len(asked.elements) == len(made.elements):
            return list(zip(asked.elements, made.elements, strict=True))
    return [(each, predicted) for each in asked.elements]


def run_minimize(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    if note_minimize(it, receiver, node):
        it.alive = False  # it raises
        return it.plain(node)
    loss, variables, tape = arguments.get(0, "loss"), arguments.get(1, "var_list"), arguments.keywords.get("tape")
    if loss is None:
        return it.plain(node)
    if variables is None:
        ask_unknown(it, "minimize", loss, variables, node, "the variables to minimise over are not given")
        return it.plain(node)
    if tape is not None and tape.kind is Kind.TAPE:
        _ask(it, "minimize", [tape.ref], loss, variables, node)
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
            _ask(it, "minimize", [opened], target, variables, node)
        return it.plain(node)
    ask_unknown(it, "minimize", loss, variables, node, "`minimize` is given a tensor and no tape")
    return it.plain(node)
