"""Made anew: layers and variables that a call, a loss or a training step makes each time it runs."""

from __future__ import annotations

import ast
from itertools import pairwise

from gradlint.flow.applied import trains_in
from gradlint.flow.arguments import name_called
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import is_keras_family, may_be_part, members_of
from gradlint.flow.model_events import LayerMadeInCall, VariableMadeInCall
from gradlint.flow.objects import Layer, Variable
from gradlint.flow.scopes import Frame
from gradlint.flow.values import Kind, Value, alternatives
from gradlint.flow.wording import code_of_node

_PER_CALL = frozenset({"call", "train_step", "compute_loss"})


def note_layer_made(it: Interpreter, layer: Value, node: ast.AST) -> None:
    """A layer with weights was made."""
    owner: Layer = layer.ref
    if it.expected:
        return
    if owner.sequence or owner.outputs is not None:
        note_own_layer_made(it, layer, node)
        return
    if owner.sequence is not None or owner.parts:
        return
    if not may_be_part(owner, None) or owner.symbol.startswith("keras.models.") or owner.symbol.endswith("InputLayer"):
        return
    _note_layer(it, layer, node)


def note_own_layer_made(it: Interpreter, layer: Value, node: ast.AST) -> None:
    """An object of a class of this file that is a layer or model was made."""
    members = [it.objects.get(member) for member in members_of(it, layer)[0]]
    if not it.expected and any(isinstance(each, Layer) and may_be_part(each, None) for each in members):
        _note_layer(it, layer, node)


def _note_layer(it: Interpreter, layer: Value, node: ast.AST) -> None:
    if isinstance(layer.ref, Layer) and layer.ref.sequence and not _has_new_part(layer):
        return  # layers that were there before, run one after another
    running = _running(it)
    frames = it.frame.callers() if running is None else []
    if running is None and it.recording()[1] and not it.frame.is_module and not _is_being_built(it):
        running = it.frame.name
    if running is None:
        return
    raises = "ValueError" if it.frame.graph else ""
    if isinstance(layer.ref, Layer) and (layer.ref.sequence or layer.ref.outputs is not None):
        node, running = _step_line(it, node), _step_name(it)  # a function that makes models is right: its call is not
    it.note(
        LayerMadeInCall, node, code_of_node(node), running, raises,
        holds=lambda: _is_called_alone(it, layer) and (not frames or trains_in(it, frames)),
    )  # fmt: skip


def _has_new_part(layer: Value) -> bool:
    return any(each.frame is layer.frame and each.kind is Kind.LAYER for each in layer.ref.sequence)


def _step_name(it: Interpreter) -> str:
    return next((frame.name for frame in it.frame.callers() if _holds_tape(frame)), it.frame.name)


def _step_line(it: Interpreter, node: ast.AST) -> ast.AST:
    """The place in the function with the tape from which the model comes to be made."""
    frames = it.frame.callers()
    for inner, outer in pairwise(frames):
        if _holds_tape(inner):
            return node
        if _holds_tape(outer):
            return inner.call_node or node
    return node


def _holds_tape(frame: Frame) -> bool:
    function = frame.function.node if frame.function is not None else None
    return function is not None and any(
        isinstance(each, ast.Attribute | ast.Name) and getattr(each, "attr", getattr(each, "id", "")) == "GradientTape"
        for each in ast.walk(function)
    )


def note_variable_made(it: Interpreter, variable: Value, node: ast.AST, initial: tuple[Value, ...]) -> None:
    """A variable was made by its constructor."""
    owner: Variable = variable.ref
    if it.expected or owner.trainable is not True or owner.integer:
        return
    if name_called(node) == "get_variable":
        return  # the same one each time, where a scope or the shim for TF1 models keeps it
    running = _running(it)
    traced = running is None and it.frame.graph
    if running is None and not traced:
        _note_restarted(it, variable, node, initial)
        return
    if traced:
        if it.doubt and _is_called_under_test(it.frame):
            return  # "not built yet", asked by whoever calls this, is the way to make variables once
        it.note(
            VariableMadeInCall, node, code_of_node(node), it.frame.name, "ValueError",
            holds=lambda: not _is_kept(it, variable),
        )  # fmt: skip
        return
    raises = "ValueError" if it.frame.graph else ""
    it.note(
        VariableMadeInCall, node, code_of_node(node), running, raises,
        holds=lambda: not _is_kept(it, variable) and not _is_source(it, owner),
    )  # fmt: skip


def _is_called_under_test(frame: Frame) -> bool:
    """Whether the function, or one that calls it, is called under an `if`."""
    return any(
        each.call_node is not None
        and each.caller is not None
        and each.caller.function is not None
        and any(
            isinstance(test, ast.If) and any(inner is each.call_node for inner in ast.walk(test))
            for test in ast.walk(each.caller.function.node)
        )
        for each in frame.callers()
    )


def _note_restarted(it: Interpreter, variable: Value, node: ast.AST, initial: tuple[Value, ...]) -> None:
    """A step makes a variable, changes it once by its gradient, and forgets it."""
    frame, turn, owner = it.frame, it.turn, variable.ref
    if frame.function is None or frame.function.name in ("__init__", "build", "__new__"):
        return
    begins_anew = all(each.kind is Kind.LITERAL for each in initial)  # rather than a batch of data
    is_open = it.open_code

    def is_forgotten() -> bool:
        if _is_kept(it, variable) or not (_trains_others(it, frame) if is_open else _runs_again(it, frame, node)):
            return False
        asked = [each for each in it.asked if any(owner.id in source.members for source in each.sources)]
        trained = owner.id in it.assigned and bool(it.assigned[owner.id] & {"assign", "assign_sub", "assign_add"})
        same = bool(asked) and all(each.frame is frame and each.turn == turn for each in asked)
        if not asked:  # read under a tape, and trained by nobody
            used = begins_anew and owner.id in it.weights_read and owner.id not in it.assigned and bool(owner.bound)
            return used and trains_in(it, [frame])
        return same and trained and not _is_returned(frame, owner)

    it.note(VariableMadeInCall, node, code_of_node(node), frame.name, "", certain=False, holds=is_forgotten)


def _runs_again(it: Interpreter, frame: Frame, node: ast.AST) -> bool:
    """Whether the function was run more than once from the same place: its call, or that of a caller, is in a loop."""
    found = [each.frame for each in it.notes if each.node is node and each.event is VariableMadeInCall]
    return any(
        other is not frame
        and [each.call_node for each in other.callers()] == [each.call_node for each in frame.callers()]
        for other in found
    )


def _trains_others(it: Interpreter, frame: Frame) -> bool:
    """Whether a function that nobody calls trains what outlives it too, as a step does and a test does not."""
    sources = [source.value for asked in it.asked if frame in asked.frame.callers() for source in asked.sources]
    return any(each.kind is Kind.VARIABLES or each.is_opaque or each.frame is not frame for each in sources)


def _is_returned(frame: Frame, variable: Variable) -> bool:
    """Whether the function hands the variable, or what it holds, to its caller."""
    node = frame.function.node if frame.function is not None else None
    returns = [each for each in ast.walk(node) if isinstance(each, ast.Return | ast.Yield)] if node is not None else []
    return any(isinstance(name, ast.Name) and name.id == variable.bound for each in returns for name in ast.walk(each))


def _is_being_built(it: Interpreter) -> bool:
    """Whether this is run by a constructor, or by the `build` that the first call of a layer runs."""
    return any(
        frame.function is not None and frame.function.name in ("__init__", "build") for frame in it.frame.callers()
    )


def _running(it: Interpreter) -> str | None:
    """The function that Keras or the training loop runs again and again, and that is running now."""
    for frame in it.frame.callers():
        function = frame.function
        if function is None or isinstance(function.node, ast.Lambda):
            continue
        if function.name in ("__init__", "build"):
            return None
        if function.name in _PER_CALL and frame.cls is not None and is_keras_family(frame.cls):
            return function.name
        if function.node in it.loss_functions:
            return function.name
    return None


def _is_kept(it: Interpreter, value: Value) -> bool:
    return value.serial in it.stored or (isinstance(value.ref, Variable) and value.ref.escaped_at is not None)


def _is_global(it: Interpreter, value: Value) -> bool:
    """Whether a name of the module holds it."""
    names = it.module.names.local | it.relevance.global_statements
    return any((held := it.store.get((it.module.id, name))) is not None and _holds(held, value) for name in names)


def _holds(held: Value, value: Value) -> bool:
    return any(way.ref is value.ref for way in alternatives(held, 4) or ())


def _is_called_alone(it: Interpreter, layer: Value) -> bool:
    if not it.called_layers.get(layer.ref.id) or _is_kept(it, layer) or _is_filled(it, layer) or _is_global(it, layer):
        return False
    if layer.ref.id in it.sets_read or _is_in_model(it, layer):
        return False  # somebody means to train it; the model around it is told itself
    return not any(layer.ref.id in source.members for asked in it.asked for source in asked.sources)


def _is_in_model(it: Interpreter, layer: Value) -> bool:
    models = [each for each in it.objects.values() if isinstance(each, Layer) and (each.sequence or each.outputs)]
    return any(part.ref is layer.ref for model in models for part in model.parts)


def _is_filled(it: Interpreter, layer: Value) -> bool:
    """Whether its weights are set from elsewhere: a copy, of which the weights are no loss."""
    return any(member in it.written_state or member in it.assigned for member in members_of(it, layer)[0])


def _is_source(it: Interpreter, variable: Variable) -> bool:
    """Whether a gradient is asked for the variable: it is what is searched for, and meant to be new."""
    return any(variable.id in source.members for asked in it.asked for source in asked.sources)
