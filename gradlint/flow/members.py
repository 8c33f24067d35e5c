"""Members: which variables and layers an object holds, and symbolic sets of them."""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    Class,
    Container,
    HeapObject,
    Instance,
    Layer,
    LibraryObject,
    SymbolicCall,
    Variable,
    VariableSet,
)
from gradlint.flow.tracing import note_trainable_read
from gradlint.flow.values import TRUE, How, Kind, Value, constants

#: Attributes that read a layer's or model's variables as one ordered set.
VARIABLE_SETS = frozenset(
    {
        "trainable_variables",
        "trainable_weights",
        "variables",
        "weights",
        "non_trainable_variables",
        "non_trainable_weights",
    }
)
#: Attributes of library layers that are variables.
LAYER_VARIABLES = frozenset(
    {"kernel", "bias", "embeddings", "gamma", "beta", "moving_mean", "moving_variance", "recurrent_kernel",
     "depthwise_kernel", "pointwise_kernel"}
)  # fmt: skip
_NOT_TRAINABLE = frozenset({"moving_mean", "moving_variance"})
_MODEL_SYMBOLS = ("keras.models.", "keras.applications.")


def is_layer_symbol(symbol: str) -> bool:
    """Whether calling the symbol makes a layer or model."""
    head, _, name = symbol.rpartition(".")
    if not name[:1].isupper():
        return False
    return head.startswith(("keras.layers", "keras.models", "keras.applications")) and name != "Input"


def is_keras_family(cls: Class) -> bool:
    """Whether the class inherits from a Keras layer or model."""
    return any(is_layer_symbol(family) for family in cls.families)


def is_model_family(cls: Class) -> bool:
    """Whether the class inherits from a Keras model."""
    return any(family.startswith(_MODEL_SYMBOLS) for family in cls.families)


def is_module_family(cls: Class) -> bool:
    """Whether the class inherits from tf.Module."""
    return any(family == "tf.Module" or family.endswith(".Module") for family in cls.families)


def members_within(it: Interpreter, value: Value) -> tuple[frozenset[int], bool]:
    """Ids of all variables, layers and models inside a value; True when there may be others."""
    return members_of(it, value)


def _enter(it: Interpreter, owner: HeapObject, found: set[int], stack: list[Value | HeapObject]) -> bool:
    """Note one object and push what it holds; True when it may hold more than can be seen."""
    match owner:
        case Variable():
            found.add(owner.id)
            if owner.owner is not None:
                found.add(owner.owner.id)
                if isinstance(owner.owner, Layer) and owner.owner.part_of is not None:
                    _enter_whole(owner.owner.part_of, found, stack)
                if isinstance(owner.owner, Variable) or not owner.exact:
                    stack.append(owner.owner)
        case VariableSet():
            found |= owner.members
            return owner.open_members
        case Layer():
            found.add(owner.id)
            stack.extend(owner.parts)
            if owner.part_of is not None:
                _enter_whole(owner.part_of, found, stack)
            _push_cells(it, owner, stack)
            return owner.open_parts
        case Instance():
            found.add(owner.id)
            _push_cells(it, owner, stack)
            return owner.cls.open_base or owner.open_self
        case Container():
            cell = it.store.get((owner.id, "items"))
            if cell is not None:
                stack.extend(cell.ref.elements)
        case LibraryObject() if owner.symbol.startswith("keras."):
            stack.extend(owner.arguments)
    return False


def _enter_whole(whole: HeapObject, found: set[int], stack: list[Value | HeapObject]) -> None:
    """A layer was read out of a model, no telling which: it may be any of its layers."""
    found.add(whole.id)
    if isinstance(whole, Layer):
        stack.extend(whole.parts)


def members_of(it: Interpreter, start: Value | HeapObject) -> tuple[frozenset[int], bool]:
    """The same, from an object too."""
    found: set[int] = set()
    open_members = False
    stack: list[Value | HeapObject] = [start]
    seen: set[int] = set()
    steps = 0
    while stack and steps < 2000:
        steps += 1
        each = stack.pop()
        if isinstance(each, Value):
            if each.how is How.JOIN:
                if each.serial not in seen:
                    seen.add(each.serial)
                    stack.extend(each.inputs)
                continue
            if each.is_opaque:
                open_members = True
                continue
            owner = each.ref
            if not isinstance(owner, HeapObject):
                continue
        else:
            owner = each
        if owner.id in seen:
            continue
        seen.add(owner.id)
        open_members = _enter(it, owner, found, stack) or open_members
    return frozenset(found), open_members


def _push_cells(it: Interpreter, owner: HeapObject, stack: list[Value | HeapObject]) -> None:
    held = (Kind.VARIABLE, Kind.LAYER, Kind.INSTANCE, Kind.CONTAINER, Kind.VARIABLES)
    for key in it.cells_of(owner.id):
        value = it.store.get(key)
        if (value is not None and (value.kind in held or value.how is How.JOIN)) or (
            value is not None and value.is_opaque and value.kind is Kind.UNKNOWN
        ):
            stack.append(value)


def variable_set(it: Interpreter, owner: Value, attribute: str, node: ast.AST) -> Value:
    """`owner.trainable_variables` and its likes."""
    held: HeapObject | Value = owner.ref if isinstance(owner.ref, HeapObject) else owner
    found, open_members = members_within(it, owner)
    if attribute in ("trainable_variables", "trainable_weights"):
        found = frozenset(member for member in found if not _is_frozen(it.objects.get(member)))
    made = VariableSet(it.new_id(), held, attribute, found, open_members, captured=it.clock)
    made.frozen = frozenset(member for member in found if _is_set_false(it.store.get((member, "trainable"))))
    if attribute.startswith("trainable"):
        if isinstance(held, HeapObject):
            it.sets_read.add(held.id)
        note_trainable_read(it, found)
        if not open_members and isinstance(held, HeapObject):
            if has_no_variables(it, held, found):
                made.unbuilt = node
            elif late := _without_variables_yet(it, held, found):
                made.unbuilt, made.late = node, late
    value = it.fresh(Kind.VARIABLES, node, ref=made, label=attribute)
    if isinstance(held, Value):
        value.root = held.root if held.root is not None else held
        value.inputs = (held,)
    return value


def _is_frozen(owner: HeapObject | None) -> bool:
    return isinstance(owner, Variable) and owner.exact and owner.trainable is False


def _is_set_false(cell: Value | None) -> bool:
    return cell is not None and constants(cell) == {False}


def has_no_variables(it: Interpreter, owner: HeapObject, members: frozenset[int]) -> bool:
    """Whether a Keras model surely has no variable yet: its layers are in sight, and none was built or called."""
    if owner.escaped_at is not None or not isinstance(owner, Layer | Instance):
        return False
    if isinstance(owner, Instance) and not is_keras_family(owner.cls):
        return False
    waiting = False
    for member in members:
        each = it.objects.get(member)
        if it.store.get((member, "<built>")) is not None or isinstance(each, Variable):
            return False
        if isinstance(each, Layer):
            if each.outputs is not None or each.open_parts or each.escaped_at is not None or each.part_of is not None:
                return False
            if each.symbol in _OF_UNKNOWN_CONTENTS or each.symbol.startswith("keras.applications."):
                return False
            waiting = waiting or may_be_part(each, None)
        elif each is not None and each is not owner:
            return False
    return waiting


def _without_variables_yet(it: Interpreter, owner: HeapObject, members: frozenset[int]) -> frozenset[int]:
    """The layers of a Keras model that surely have no variables yet, while others do."""
    if owner.escaped_at is not None or not isinstance(owner, Instance) or not is_keras_family(owner.cls):
        return frozenset()
    if it.store.get((owner.id, "<built>")) is not None or owner.open_self:
        return frozenset()
    return frozenset(
        member
        for member in members
        if isinstance(each := it.objects.get(member), Layer)
        and it.store.get((member, "<built>")) is None
        and may_be_part(each, owner)
        and not (each.outputs is not None or each.open_parts or each.escaped_at is not None)
        and not (each.symbol in _OF_UNKNOWN_CONTENTS or each.symbol.startswith("keras.applications."))
    )


_OF_UNKNOWN_CONTENTS = frozenset({"keras.models.Model", "keras.layers.Layer"})


def mark_built(it: Interpreter, value: Value | HeapObject) -> None:
    """A layer is called or built, and with it all that is inside."""
    for member in members_of(it, value)[0]:
        if it.store.get((member, "<built>")) is None and isinstance(it.objects.get(member), Layer):
            it.store.set((member, "<built>"), TRUE)


def layers_within(it: Interpreter, whole: Value | HeapObject) -> frozenset[int] | None:
    """Ids of the layers with weights inside a model or layer; None when it may hold others."""
    members, is_open = members_of(it, whole)
    held = [each for member in members if isinstance(each := it.objects.get(member), Layer)]
    if is_open or any(each.open_parts for each in held):
        return None
    return frozenset(each.id for each in held if may_be_part(each, None))


def surely_within(it: Interpreter, value: Value) -> frozenset[int]:
    """Ids of the trainable variables and layers that a variable is, or a symbolic set surely holds."""
    ref = value.ref
    if isinstance(ref, Variable):
        held: set[int] = set()
        behind: HeapObject | None = ref if ref.exact else None
        while isinstance(behind, Variable):  # the variable behind a keras.Variable is the same to a tape
            held.add(behind.id)
            behind = behind.owner
        return frozenset(held | ({behind.id} if behind is not None else set()))
    if not isinstance(ref, VariableSet):
        return frozenset()
    in_keras = is_keras_owned(value)
    found: set[int] = set()
    for member in ref.members:
        each = it.objects.get(member)
        if isinstance(each, Layer) or (
            isinstance(each, Variable) and each.trainable and (each.keras or not in_keras) and member not in it.doubtful
        ):
            found.add(member)
    return frozenset(found)


def is_keras_owned(value: Value) -> bool:
    """Whether a symbolic set surely holds keras.Variables."""
    return is_keras_set(value.ref)


def is_keras_set(variables: VariableSet) -> bool:
    """The same for the set itself."""
    owner = variables.owner
    return isinstance(owner, Layer) or (isinstance(owner, Instance) and is_keras_family(owner.cls))


def parts_of_set(it: Interpreter, value: Value) -> list[Value]:
    """The variables of a symbolic set that were made in sight, and its layers: each may starve alone."""
    if value.kind is Kind.VARIABLES and value.ref.bounds is not None:
        return []  # a part by place: which of them are in it is not known
    if value.kind is not Kind.VARIABLES or not isinstance(value.ref.owner, Instance):
        owner = value.ref.owner if value.kind is Kind.VARIABLES else None
        if not (isinstance(owner, Layer) and (owner.sequence is not None or owner.outputs is not None)):
            return []
    if value.ref.attribute not in ("trainable_variables", "trainable_weights"):
        return []
    variables: VariableSet = value.ref
    found: list[Value] = []
    for member in sorted(variables.members)[:64]:
        each = it.objects.get(member)
        if it.store.get((member, "trainable")) is not None:
            continue  # frozen, or perhaps so
        if isinstance(each, Variable) and each.exact and each.trainable is True and each.id in it.value_of:
            in_keras = not isinstance(variables.owner, Instance) or is_keras_family(variables.owner.cls)
            if each.keras or not in_keras:
                found.append(it.value_of[each.id])
        elif isinstance(each, Layer) and may_be_part(each, variables.owner):
            if it.store.get((each.id, "trainable")) is None and each.id in it.layer_values:
                layer = it.layer_values[each.id]
                part = variable_set(it, layer, "trainable_variables", layer.node or ast.Pass())
                assert isinstance(variables.owner, HeapObject)
                part.label = f"{_name_of(it, variables.owner, layer)}.trainable_variables"
                found.append(part)
    return found


#: Layers without variables, by how their names begin.
_WEIGHTLESS = (
    "Lambda", "Activation", "Flatten", "Dropout", "Reshape", "Max", "Average", "AvgPool", "Global",
    "ZeroPadding", "Cropping",
    "UpSampling", "Rescaling", "Resizing", "Random", "Concatenate", "Add", "Multiply", "Subtract", "Dot", "Minimum",
    "Permute", "RepeatVector", "Masking", "Input", "ReLU", "LeakyReLU", "ELU", "Softmax", "Gaussian", "Spatial",
    "Identity", "UnitNormalization", "ActivityRegularization",
    "CategoryEncoding", "Discretization", "Hashing", "StringLookup", "IntegerLookup", "TextVectorization", "Alpha",
)  # fmt: skip


def may_be_part(layer: Layer, owner: object) -> bool:
    """Whether a layer of the library inside the owner has variables of its own."""
    if layer is owner or layer.part_of is not None or layer.parts:
        return False
    return not is_weightless(layer)


def is_weightless(layer: Layer) -> bool:
    """Whether a layer of the library has no variables, by its class."""
    return layer.symbol.rpartition(".")[2].startswith(_WEIGHTLESS)


def part_name(it: Interpreter, owner: HeapObject | Value, part: int) -> str:
    """What a layer inside a model is called."""
    layer = it.layer_values.get(part)
    return _name_of(it, owner, layer) if layer is not None and isinstance(owner, HeapObject) else "a layer"


def _name_of(it: Interpreter, owner: HeapObject, layer: Value) -> str:
    """What a layer is called: the attribute that holds it, its `name`, or the call that makes it."""
    holders = [owner, *(each for each in it.objects.values() if isinstance(each, Instance) and each is not owner)]
    for holder in holders[:200]:
        for _, name in it.cells_of(holder.id):
            held = it.store.get((holder.id, name))
            if held is not None and held.ref is layer.ref and isinstance(name, str) and not name.startswith("<"):
                return name
    if isinstance(layer.node, ast.Call):
        return written_name(layer) or ast.unparse(layer.node)
    return "a layer"


def written_name(layer: Value) -> str | None:
    """The `name` that a layer is made with, where it is written out."""
    for keyword in layer.node.keywords if isinstance(layer.node, ast.Call) else ():
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return None


def some_variable(it: Interpreter, owner: Value, node: ast.AST) -> Value:
    """Any one variable of a symbolic set."""
    variables: VariableSet = owner.ref
    if isinstance(variables.owner, Value):
        part = it.part(owner, node)
        part.root = owner.root
        return part
    held = variables.owner
    keras = isinstance(held, Layer) or (isinstance(held, Instance) and is_keras_family(held.cls))
    made = Variable(it.new_id(), "", keras, None, node, owner=held, exact=False, within=variables)
    return it.fresh(Kind.VARIABLE, node, ref=made)


def rearranged_set(it: Interpreter, whole: Value, order: str, node: ast.AST) -> Value:
    """The same variables in another order: `order` names it, so that two lists of one order are alike."""
    made = sliced_set(it, whole, slice(None), node)
    made.ref.bounds = (None, None, order)
    return made


def sliced_set(it: Interpreter, whole: Value, bounds: slice, node: ast.AST) -> Value:
    """`model.trainable_variables[2:]`: it may hold any of the variables, but stands for others in their order."""
    variables: VariableSet = whole.ref
    made = VariableSet(
        it.new_id(), variables.owner, variables.attribute, variables.members, variables.open_members,
        bounds=_narrowed(variables.bounds, bounds, node), frozen=variables.frozen, captured=variables.captured,
    )  # fmt: skip
    value = it.fresh(Kind.VARIABLES, node, ref=made, label=whole.label)
    value.root, value.inputs = whole.root, whole.inputs
    return value


def _narrowed(
    before: tuple[object, object, object] | None, bounds: slice, node: ast.AST
) -> tuple[object, object, object] | None:
    """The bounds of a part of a part, counted from the beginning or from the end of the whole."""
    start, stop, step = bounds.start or None, bounds.stop, bounds.step if bounds.step != 1 else None
    if before is None:
        return (start, stop, step) if (start, stop, step) != (None, None, None) else None
    first, last, order = before
    known = all(type(each) is int for each in (first or 0, last or 0, start or 0, stop or 0))
    if order is not None or step is not None or not known or (start or 0) < 0 or (stop or 0) < 0:
        return (None, None, id(node))
    assert isinstance(first, int | None) and isinstance(last, int | None)
    moved = (first or 0) + (start or 0)
    end = last if stop is None else (first or 0) + stop
    if isinstance(first, int) and first < 0 and (moved >= 0 or (stop is not None and end is not None and end >= 0)):
        end = last  # up to the very end
    return (moved or None, end, None)


def weights_of(it: Interpreter, layer: Value, node: ast.AST) -> Value:
    """What calling a library layer reads."""
    return variable_set(it, layer, "weights", node)


def symbolic_operation(it: Interpreter, arguments: tuple[Value, ...]) -> SymbolicCall:
    """How an operation on Keras tensors is remembered: without a layer, over its arguments."""
    return SymbolicCall(it.new_id(), None, arguments, ())


def part_of(it: Interpreter, base: Value, node: ast.AST, name: object = None) -> Value:
    """A layer read out of a model by name or place."""
    owner: Layer = base.ref
    named = [part for part in owner.parts if name is not None and written_name(part) == name]
    if len(named) == 1 and not owner.open_parts:
        return named[0]
    made = Layer(it.new_id(), "keras.layers.Layer", (), False, part_of=owner)
    return it.fresh(Kind.LAYER, node, ref=made)


def layer_variable(it: Interpreter, owner: HeapObject, name: str, node: ast.AST) -> Value:
    """`layer.kernel` and the like: the same variable each time."""
    key = (owner.id, name)
    found = it.member_values.get(key)
    if found is None:
        made = Variable(it.new_id(), name, True, name not in _NOT_TRAINABLE, node, owner=owner)
        found = it.fresh(Kind.VARIABLE, node, ref=made)
        it.member_values[key] = found
    return found
