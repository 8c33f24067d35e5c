"""Tracking: weights that a model of Keras 3 holds where Keras does not look for them.

Measured with Keras 3.15: attributes, lists, tuples, dicts and sets of layers and keras.Variables are tracked; a
tf.Variable, a tf.Module, a plain object, a deque and what a Lambda captures are not. A list is copied when it is
assigned.
"""

from __future__ import annotations

import ast
from functools import partial

from gradlint.flow.applied import applied_calls
from gradlint.flow.arguments import name_called
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.listed import is_asked_for_variables, is_listed
from gradlint.flow.members import is_keras_family, is_module_family, may_be_part, members_of
from gradlint.flow.model_events import LambdaCaptured, LayerUntracked, VariableUntracked
from gradlint.flow.objects import Class, Function, HeapObject, Instance, Layer, LibraryObject, Partial, Variable
from gradlint.flow.scopes import Frame
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.flow.wording import code_of_node
from gradlint.knowledge.conventions import keeps_numbers


def note_kept(it: Interpreter, owner: Value, name: str, value: Value, node: ast.AST) -> None:
    """`self.name = value` on a layer or model of this file."""
    if it.expected or owner.kind is not Kind.INSTANCE:
        return
    written = ast.unparse(node) if isinstance(node, ast.Attribute) else f"self.{name}"
    if not is_keras_family(owner.ref.cls):
        if is_module_family(owner.ref.cls):
            _note_kept_in_module(it, owner, written, value, node)
        return
    if not it.keras_3:
        return
    listed = list(it.items(value).elements) if value.kind is Kind.CONTAINER and not it.is_waiting(value) else [value]
    held = [way for each in listed for way in alternatives(each, 8) or ()]
    plain = [each for each in held if _is_untracked_variable(it, each) and not keeps_numbers(name)]
    if plain:
        holder = "a list of tf.Variable" if value.kind is Kind.CONTAINER else "a tf.Variable"
        it.note(
            VariableUntracked, node, written, holder, certain=False,
            holds=lambda: (
                not _is_trained_by_name(it, name)
                and not is_listed(it, name)
                and not any(_is_handled(it, each.ref.id) for each in plain)
            ),
        )  # fmt: skip
        return
    for each in held:
        if each.kind is Kind.INSTANCE and not each.ref.open_self:
            _note_object(it, owner, written, each, name, node)
    if value.kind is Kind.CONTAINER and value.ref.type == "deque":
        it.copied_lists[value.ref.id] = owner  # what is put in later is as lost as with a copied list
        _note_hidden(it, owner, written, value, "a deque", node)
    if isinstance(value.ref, Partial | Function):
        _note_function(it, owner, written, value, node)
    if isinstance(value.ref, LibraryObject) and value.ref.symbol in ("types.SimpleNamespace", "argparse.Namespace"):
        _note_hidden(it, owner, written, value, "a plain namespace", node)


def _is_untracked_variable(it: Interpreter, value: Value) -> bool:
    variable = value.ref
    if value.kind is not Kind.VARIABLE or not isinstance(variable, Variable) or variable.keras or variable.integer:
        return False
    filled = variable.initial is not None and variable.initial.serial in it.array_writes  # a table of data
    return variable.trainable is True and variable.owner is None and variable.exact and not filled


def _is_handled(it: Interpreter, variable: int) -> bool:
    """Whether the file trains or writes the variable by itself."""
    if variable in it.assigned or it.relevance.reads_watched:
        return True
    return _is_asked_for(it, variable, applied=False)


#: What is done to a variable that is trained by hand.
_TRAINING_BY_HAND = frozenset({"gradient", "jacobian", "watch", "apply_gradients", "minimize"})


def _is_trained_by_name(it: Interpreter, name: str) -> bool:
    """Whether the text asks for the gradient of an attribute of this name, or sets it: `[self.log_alpha]`."""
    return _is_set(it, name) or any(
        isinstance(node, ast.Call)
        and name_called(node) in _TRAINING_BY_HAND
        and any(
            isinstance(each, ast.Attribute) and each.attr == name for given in node.args for each in ast.walk(given)
        )
        for node in it.nodes(name)
    )


def _is_set(it: Interpreter, name: str) -> bool:
    """Whether the file sets an attribute of this name on any object: `self.model.beta.assign(...)` in a callback."""
    for node in it.nodes(name):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            setting = node.func.attr.startswith("assign")
            held = node.func.value if setting else node.args[0] if node.func.attr == "set_value" and node.args else None
            if isinstance(held, ast.Attribute) and held.attr == name:
                return True
    return False


def _note_object(it: Interpreter, owner: Value, written: str, kept: Value, name: str, node: ast.AST) -> None:
    """An object of this file's classes is kept: a tf.Module, or an object that knows nothing of Keras."""
    cls = kept.ref.cls
    if is_keras_family(cls) or cls.open_base:
        return
    if is_module_family(cls):
        members = members_of(it, kept)[0]
        if any(isinstance(it.objects.get(each), Variable | Layer) for each in members):
            it.note(
                VariableUntracked, node, written, "a tf.Module", certain=False,
                holds=lambda: (
                    not is_asked_for_variables(it, name) and not any(_is_handled(it, each) for each in members)
                ),
            )  # fmt: skip
        return
    if not cls.families:
        _note_hidden(it, owner, written, kept, f"a plain object of `{cls.name}`", node)


def _note_hidden(it: Interpreter, owner: Value, written: str, kept: Value, holder: str, node: ast.AST) -> None:
    hidden = _hidden_within(it, kept)
    it.hidden.update(hidden)
    if hidden:
        it.note(
            LayerUntracked, node, written, holder, certain=False,
            holds=lambda: not any(is_seen(it, each) for each in hidden),
        )  # fmt: skip


def _note_kept_in_module(it: Interpreter, owner: Value, written: str, value: Value, node: ast.AST) -> None:
    """`self.name = value` on a tf.Module: it looks into modules, lists, tuples and dicts, not into other objects."""
    for kept in it.items(value).elements if value.kind is Kind.CONTAINER and not it.is_waiting(value) else [value]:
        cls = kept.ref.cls if kept.kind is Kind.INSTANCE else None
        if not isinstance(cls, Class) or kept.ref.open_self or cls.families or cls.open_base:
            continue
        if any("attr" in ast.unparse(each) for each in cls.node.decorator_list):
            continue  # `tf.nest` knows what is inside
        hidden = _variables_behind(it, kept)
        if hidden:
            it.note(
                LayerUntracked, node, written, f"a plain object of `{cls.name}`", "tf.Module", certain=False,
                holds=partial(_is_left_by_module, it, owner.ref.id, hidden),
            )  # fmt: skip


def _variables_behind(it: Interpreter, kept: Value) -> frozenset[int]:
    """The trainable tf.Variables that an object of no library holds, and the modules in it that hold them."""
    members = members_of(it, kept)[0]
    held = [each for each in map(it.objects.get, members) if isinstance(each, Variable)]
    if not any(not each.keras and not each.integer and each.trainable is True and each.exact for each in held):
        return frozenset()
    return members - {kept.ref.id}


def _is_left_by_module(it: Interpreter, module: int, hidden: frozenset[int]) -> bool:
    """Whether gradients are asked for the variables of the module, and for none of the hidden ones by themselves."""
    if any(each in it.assigned for each in hidden):
        return False
    sources = [source.value for asked in it.asked for source in asked.sources if not source.within]
    owners = [each.ref.owner if each.kind is Kind.VARIABLES else each.ref for each in sources]
    named = {each.id for each in owners if isinstance(each, HeapObject)}
    return module in named and not named & hidden


def _has_weights(it: Interpreter, member: int) -> bool:
    owner = it.objects.get(member)
    return (isinstance(owner, Layer) and may_be_part(owner, None)) or (
        isinstance(owner, Variable) and owner.keras and owner.trainable is True and owner.exact
    )


def _note_function(it: Interpreter, owner: Value, written: str, value: Value, node: ast.AST) -> None:
    """A function is kept that closes over layers, or has them as arguments."""
    if isinstance(value.ref, Partial):
        held = [*value.ref.arguments, *(each for _, each in value.ref.keywords)]
        _note_hidden(it, owner, written, it.list_of(held, node), "a functools.partial", node)
    elif not value.ref.frame.is_module and value.ref.owner is None:
        own = [each for each in it.closed_over(value.ref) if each.ref is not owner.ref]
        _note_hidden(it, owner, written, it.list_of(own, node), "a function that closes over it", node)


def _hidden_within(it: Interpreter, kept: Value) -> list[int]:
    """The layers and weights that a plain object or container holds, those inside of them left out."""
    found: list[int] = []
    stack, seen = [kept], set[int]()
    while stack and len(seen) < 200:
        each = stack.pop()
        owner = each.ref
        if each.serial in seen or not isinstance(owner, HeapObject):
            continue
        seen.add(each.serial)
        if each.kind is Kind.CONTAINER and not it.is_waiting(each):
            stack.extend(it.items(each).elements)
        elif each.kind is Kind.LIBRARY or (isinstance(owner, Instance) and not is_keras_family(owner.cls)):
            stack.extend(_cells(it, owner))
        elif each.kind in (Kind.LAYER, Kind.INSTANCE, Kind.VARIABLE) and _carries_weights(it, each):
            found.append(owner.id)
    return found


def _carries_weights(it: Interpreter, value: Value) -> bool:
    if value.kind is Kind.INSTANCE or (isinstance(value.ref, Layer) and value.ref.parts):
        return any(_has_weights(it, member) for member in members_of(it, value)[0])
    return _has_weights(it, value.ref.id)


def is_seen(it: Interpreter, member: int) -> bool:
    """Whether some model of the file holds this where Keras finds it, or the file trains it by itself."""
    if _is_asked_for(it, member):
        return True
    if it.seen_by_keras is None:
        it.seen_by_keras = _tracked(it)
    return member in it.seen_by_keras


def _is_asked_for(it: Interpreter, member: int, *, applied: bool = True) -> bool:
    """Whether a gradient call names the weight or layer itself; where `applied`, one whose gradient is applied."""
    return any(
        _names(source.value, member)
        for asked in it.asked
        if not applied or asked.asked != "gradient" or asked.node in applied_calls(it)
        for source in asked.sources
        if not source.within
    )


def _names(source: Value, member: int) -> bool:
    """Whether a source is this weight, the variables of this layer, or of a plain object that holds it."""
    owner = source.ref.owner if source.kind is Kind.VARIABLES else source.ref
    if isinstance(owner, HeapObject) and owner.id == member:
        return True
    is_plain = isinstance(owner, Instance) and not is_keras_family(owner.cls)
    return is_plain and source.kind is Kind.VARIABLES and member in source.ref.members


def _tracked(it: Interpreter) -> set[int]:
    """What the layers and models of the file hold where Keras finds it."""
    found: set[int] = set()
    stack: list[Value] = []
    for owner in list(it.objects.values()):
        if isinstance(owner, Layer):
            stack.extend(owner.parts)
            stack.extend(_cells(it, owner))
        elif isinstance(owner, Instance) and is_keras_family(owner.cls):
            stack.extend(_cells(it, owner))
    seen: set[int] = set()
    while stack:
        each = stack.pop()
        if each.how is How.JOIN:
            if each.serial not in seen:
                seen.add(each.serial)
                stack.extend(each.inputs)
        elif each.kind is Kind.CONTAINER and each.ref.type != "deque" and each.ref.id not in it.copied_lists:
            if each.ref.id not in seen:
                seen.add(each.ref.id)
                stack.extend(it.items(each).elements)
        elif each.kind in (Kind.LAYER, Kind.INSTANCE, Kind.VARIABLE) and isinstance(each.ref, HeapObject):
            found.add(each.ref.id)
    return found


def _cells(it: Interpreter, owner: HeapObject) -> list[Value]:
    return [value for key in it.cells_of(owner.id) if (value := it.store.get(key)) is not None]


def copy_list(it: Interpreter, owner: Value, value: Value) -> Value:
    """What a layer of Keras 3 keeps of a list or dict: a copy, in which later changes of the original are missing."""
    if not it.keras_3 or owner.kind is not Kind.INSTANCE or not is_keras_family(owner.ref.cls):
        return value
    if value.kind is not Kind.CONTAINER or value.ref.type not in ("list", "dict") or value.label:
        return value
    copied = it.container(value.ref.type, it.items(value), value.node)
    copied.ref.fields = value.ref.fields
    it.copied_lists[value.ref.id] = owner
    return copied


def note_appended(it: Interpreter, container: Value, added: list[Value], node: ast.AST) -> None:
    """A layer is put into a list of which a model has taken its copy before."""
    if it.expected or container.ref.id not in it.copied_lists:
        return
    is_deque = container.ref.type == "deque"
    late = [
        each for each in added if isinstance(each.ref, Layer | Instance) and each.kind in (Kind.LAYER, Kind.INSTANCE)
    ]
    members = [each.ref.id for each in late if _carries_weights(it, each)]
    if members:
        it.note(
            LayerUntracked, node, code_of_node(node), "a deque" if is_deque else "a list that Keras has copied before",
            certain=False, holds=lambda: not any(is_seen(it, each) for each in members),
        )  # fmt: skip


def note_lambda(it: Interpreter, layer: Value, function: Value, node: ast.AST) -> None:
    """A Lambda layer was made: what its function uses from around it is not tracked."""
    if not isinstance(function.ref, Function) or it.expected or function.ref.owner is not None:
        return
    body = function.ref.node
    spec = body.args
    own = {each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    own |= {each.id for each in ast.walk(body) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    captured: dict[str, list[int]] = {}
    for each in ast.walk(body):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id not in own:
            value = _looked_up(it, function.ref.frame, each.id)
            members = _captured(it, value) if value is not None else []
            if members:
                captured[each.id] = members
    if captured:
        every = [member for members in captured.values() for member in members]
        it.hidden.update(every)
        it.note(
            LambdaCaptured, node, "` and `".join(captured), certain=False,
            holds=lambda: not any(is_seen(it, each) or each in it.assigned for each in every),
        )  # fmt: skip


def _looked_up(it: Interpreter, frame: Frame | None, name: str) -> Value | None:
    while frame is not None:
        if not frame.is_class:
            value = it.store.get((frame.id, name))
            if value is not None:
                return value
        frame = frame.parent
    return None


def _captured(it: Interpreter, value: Value) -> list[int]:
    """The trainable weights, or the layers with some, that a captured value is."""
    if value.how is How.JOIN or not isinstance(value.ref, HeapObject):
        return []
    if value.kind is Kind.VARIABLE and isinstance(value.ref, Variable):
        return [value.ref.id] if value.ref.trainable is True and not value.ref.integer else []
    if value.kind in (Kind.LAYER, Kind.INSTANCE):
        if it.store.get((value.ref.id, "trainable")) is not None:
            return []
        return [value.ref.id] if _carries_weights(it, value) else []
    return []


def _is_unseen(it: Interpreter, member: int) -> bool:
    return not is_seen(it, member)


def note_class_layers(it: Interpreter, cls: Class) -> None:
    """Layers in the body of a class: all objects share them, and Keras looks at none."""
    for name in sorted(it.names_of(cls.node).local):
        value = it.store.get((cls.id, name))
        if value is not None and value.kind is Kind.LAYER and value.node is not None and _carries_weights(it, value):
            it.note(
                LayerUntracked, value.node, name, f"the class `{cls.name}`", certain=False, frame=it.module,
                holds=partial(_is_unseen, it, value.ref.id),
            )  # fmt: skip
