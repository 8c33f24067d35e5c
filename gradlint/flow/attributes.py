"""Attributes and items: reading, writing, unpacking and iterating values of every kind."""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow import calls, keras_objects
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    BoundMethod,
    Class,
    Container,
    Function,
    Instance,
    Items,
    Layer,
    LibraryMethod,
    LibraryObject,
    Super,
    Transformed,
    Variable,
)
from gradlint.flow.symbols import canonical
from gradlint.flow.values import DType, How, Kind, Value, alternatives, is_literal
from gradlint.verdicts import Cause

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
#: Attributes of tensors and variables that are no tensors.
_PLAIN_OF_TENSOR = frozenset(
    {
        "shape",
        "dtype",
        "name",
        "device",
        "trainable",
        "path",
        "ndim",
        "op",
        "graph",
        "handle",
        "initializer",
        "constraint",
    }
)
MOST_WAYS = 8


def each_way(it: Interpreter, value: Value, act: Callable[[Value], Value], node: ast.AST) -> Value:
    """Act on every alternative of a join and join what comes back."""
    ways = alternatives(value, MOST_WAYS)
    if ways is None or not ways:
        return it.unknown(node, "too many alternatives" if ways is None else "nothing but None", (value,))
    if len(ways) == 1:
        return act(ways[0])
    return it.join([act(way) for way in ways])


def _is_split(value: Value) -> bool:
    """Whether a join has to be taken apart: a joined tensor is still one tensor."""
    return value.how is How.JOIN and (value.kind is Kind.UNKNOWN or value.ref is None) and value.kind is not Kind.TENSOR


# -- attributes --------------------------------------------------------------------------------


def get_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    """`base.name`."""
    if _is_split(base):
        return each_way(it, base, lambda way: get_attribute(it, way, name, node), node)
    match base.kind:
        case Kind.SYMBOL:
            return it.fresh(Kind.SYMBOL, node, ref=canonical(f"{base.ref}.{name}"))
        case Kind.UNKNOWN:
            return _unknown_attribute(it, base, name, node)
        case Kind.TENSOR | Kind.VARIABLE | Kind.SYMBOLIC:
            return _tensor_attribute(it, base, name, node)
        case Kind.INSTANCE:
            return instance_attribute(it, base, name, node)
        case Kind.LAYER:
            return keras_objects.layer_attribute(it, base, name, node)
        case Kind.CLASS:
            return _class_attribute_value(it, base, name, node)
        case Kind.PLAIN:
            return it.operation(node, (base,), label=name, kind=Kind.PLAIN)
        case Kind.FUNCTION:
            if isinstance(base.ref, Super):
                return _super_attribute(it, base.ref, name, node)
            return method_of(it, base, name, node)
        case Kind.LIBRARY:
            return _library_attribute(it, base, name, node)
        case Kind.CONTAINER if name in base.ref.fields:
            elements = it.items(base).elements
            return elements[base.ref.fields.index(name)]
        case Kind.LITERAL if base.ref is None:
            return it.unknown_global(f"<{name} of None>", f"`{name}` of a value that is None as far as it was followed")
    return method_of(it, base, name, node)


def method_of(it: Interpreter, receiver: Value, name: str, node: ast.AST) -> Value:
    """A method of a library object, not called yet."""
    return it.fresh(Kind.METHOD, node, ref=LibraryMethod(it.new_id(), receiver, name), label=name)


def _unknown_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    written = it.store.get((-base.serial - 1, name))
    if written is not None and it.written_at.get((-base.serial - 1, name), 0) > it.havoc:
        return written
    if name in VARIABLE_SETS:
        return keras_objects.variable_set(it, base, name, node)
    memo = it.member_values.get((-base.serial - 1, name))
    if memo is not None and (written is None):
        return memo
    part = it.part(base, node)
    part.label = "part"
    if written is not None:
        return it.join([written, part])
    if base.how is not How.OPERATION:
        it.member_values[(-base.serial - 1, name)] = part
    return part


def _tensor_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    if name in _PLAIN_OF_TENSOR:
        return it.plain(node)
    if name == "T" or name in ("values", "flat_values", "real", "imag"):
        return it.operation(node, (base,), label=name)
    if name == "value" and base.kind is Kind.VARIABLE and base.ref is not None and base.ref.keras:
        # The backend variable behind a keras.Variable: the same thing to a tape.
        return _backend_variable(it, base, node)
    return method_of(it, base, name, node)


def _backend_variable(it: Interpreter, base: Value, node: ast.AST) -> Value:
    variable: Variable = base.ref
    key = (variable.id, "value")
    found = it.member_values.get(key)
    if found is None:
        behind = Variable(it.new_id(), variable.name, False, variable.trainable, variable.node, owner=variable)
        found = it.fresh(Kind.VARIABLE, node, ref=behind)
        it.member_values[key] = found
    return found


def class_attribute(it: Interpreter, cls: Class, name: str) -> Value | None:
    """A name found in a class body or in those of its bases in this file."""
    for each in cls.lineage():
        value = it.store.get((each.id, name))
        if value is not None:
            return value
    return None


def bind(it: Interpreter, found: Value, receiver: Value, node: ast.AST) -> Value:
    """A class attribute as seen through an instance: methods are bound, properties are called."""
    if found.kind is not Kind.FUNCTION:
        return found
    function = found.ref
    if isinstance(function, Transformed):
        match function.transformer:
            case "staticmethod":
                return function.function
            case "classmethod":
                cls = it.fresh(Kind.CLASS, node, ref=receiver.ref.cls) if receiver.kind is Kind.INSTANCE else receiver
                return it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), function.function, cls))
            case "cached_property":
                return _cached_property(it, function, receiver, node)
            case "property":
                bound = it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), function.function, receiver))
                return calls.call(it, bound, calls.Arguments(()), node)
    if isinstance(function, Function | Transformed):
        return it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), found, receiver))
    return found


def _cached_property(it: Interpreter, function: Transformed, receiver: Value, node: ast.AST) -> Value:
    key = f"<cached {function.id}>"
    kept = it.store.get((receiver.ref.id, key)) if receiver.kind is Kind.INSTANCE else None
    if kept is not None:
        return kept
    bound = it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), function.function, receiver))
    value = calls.call(it, bound, calls.Arguments(()), node)
    if receiver.kind is Kind.INSTANCE:
        it.keep(value)
        it.write_cell(receiver.ref, key, value)
    return value


def has_attribute(it: Interpreter, value: Value, name: str) -> bool | None:
    """Whether an object surely has, or surely lacks, an attribute."""
    if value.kind is not Kind.INSTANCE:
        return None
    instance: Instance = value.ref
    if it.store.get((instance.id, name)) is not None or class_attribute(it, instance.cls, name) is not None:
        return True
    cls = instance.cls
    if instance.open_self or instance.escaped_at is not None or cls.open_base or name in keras_objects.KERAS_METHODS:
        return None
    if class_attribute(it, cls, "__getattr__") is not None or name in VARIABLE_SETS or hasattr(object, name):
        return None
    return False


def is_empty(it: Interpreter, value: Value) -> bool:
    """Whether a value is a container that can be filled and that nothing in sight has filled."""
    return value.kind is Kind.CONTAINER and value.ref.type != "tuple" and not it.items(value).elements


def instance_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    """An attribute of an object of this file's classes."""
    instance: Instance = base.ref
    found = class_attribute(it, instance.cls, name)
    if found is not None and isinstance(found.ref, Transformed) and found.ref.transformer in ("property", "cached_property"):
        return bind(it, found, base, node)
    own = it.read_cell(instance, name)
    if own is not None:
        if instance.open_self and (name in it.relevance.assigned_outside_init or is_empty(it, own)):
            because = f"`self.{name}` is also set outside `__init__`"
            return it.join([own, it.state_unknown(f"<self{instance.id}.{name}>", because, node)])
        return own
    if found is not None:
        if instance.open_self and _is_overridden(it, instance.cls, name):
            return _open_part(it, base, name, node)
        bound = bind(it, found, base, node)
        if instance.open_self and not isinstance(found.ref, Function | Transformed):
            return it.join([bound, it.state_unknown(f"<self{instance.id}.{name}>", f"`{name}` may be set anew", node)])
        if instance.open_self and isinstance(found.ref, Transformed) and found.ref.transformer == "staticmethod":
            if found.node is None or not isinstance(found.node, ast.FunctionDef):
                return it.join([bound, it.state_unknown(f"<self{instance.id}.{name}>", f"`{name}` may be set anew", node)])
        return bound
    if keras_objects.is_keras_family(instance.cls) or keras_objects.is_module_family(instance.cls):
        return keras_objects.inherited_attribute(it, base, name, node)
    if instance.open_self or instance.cls.open_base or instance.escaped_at is not None:
        return _open_part(it, base, name, node)
    getter = class_attribute(it, instance.cls, "__getattr__")
    if getter is not None or name in it.relevance.assigned_outside_init:
        return _open_part(it, base, name, node)
    return _open_part(it, base, name, node)


def _is_overridden(it: Interpreter, cls: Class, name: str) -> bool:
    return any(
        other is not cls and cls in other.lineage() and it.store.get((other.id, name)) is not None
        for other in it.classes
    )


def _open_part(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    if name in VARIABLE_SETS:
        return keras_objects.variable_set(it, base, name, node)
    key = (base.ref.id, f".{name}")
    found = it.member_values.get(key)
    if found is None:
        found = Value(
            Kind.UNKNOWN, How.PART, it.tick(), inputs=(base,), node=node, frame=it.frame, root=base,
            label="part", because=f"`{name}` is set where it cannot be seen",
        )  # fmt: skip
        it.member_values[key] = found
    return found


def _class_attribute_value(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    found = class_attribute(it, base.ref, name)
    if found is None:
        if name == "__init__":
            return method_of(it, base, name, node)
        return it.part(base, node)
    if isinstance(found.ref, Transformed):
        return bind(it, found, base, node) if found.ref.transformer in ("classmethod", "staticmethod") else found
    return found


def _super_attribute(it: Interpreter, proxy: Super, name: str, node: ast.AST) -> Value:
    lineage = proxy.receiver.ref.cls.lineage() if proxy.receiver.kind is Kind.INSTANCE else proxy.cls.lineage()
    after = lineage[lineage.index(proxy.cls) + 1 :] if proxy.cls in lineage else []
    for each in after:
        value = it.store.get((each.id, name))
        if value is not None:
            return bind(it, value, proxy.receiver, node)
    return method_of(it, it.fresh(Kind.FUNCTION, node, ref=proxy), name, node)


def _library_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    owner: LibraryObject = base.ref
    own = it.store.get((owner.id, name))
    if own is not None:
        return own
    if name in ("shape", "dtype", "name", "iterations", "learning_rate", "lr", "loss_scale", "element_spec"):
        return it.plain(node)
    return method_of(it, base, name, node)


def set_attribute(it: Interpreter, base: Value, name: str, value: Value, node: ast.AST) -> None:
    """`base.name = value`."""
    if value.kind is Kind.VARIABLE and isinstance(value.ref, Variable) and not value.ref.name:
        value.ref.name = ast.unparse(node) if isinstance(node, ast.Attribute) else name
    ways = alternatives(base, MOST_WAYS) if _is_split(base) else [base]
    for way in ways or ():
        old = None
        if len(ways or ()) > 1 and way.kind in (Kind.INSTANCE, Kind.LAYER, Kind.LIBRARY):
            old = it.store.get((way.ref.id, name))
        stored = value if old is None else it.join([old, value])
        match way.kind:
            case Kind.LAYER:
                if value.kind not in (Kind.LITERAL, Kind.PLAIN):
                    way.ref.open_parts = True  # what calling it reads is not the library's alone any more
                    it.escape(way)
                it.write_cell(way.ref, name, stored)
            case Kind.INSTANCE | Kind.LIBRARY | Kind.CLASS:
                it.write_cell(way.ref, name, stored)
            case Kind.UNKNOWN:
                it.escape(value)
                _open_members(it, way)
                it.store.set((-way.serial - 1, name), stored)
                it.written_at[(-way.serial - 1, name)] = it.tick()
            case _:
                it.escape(value)


def _open_members(it: Interpreter, written: Value) -> None:
    """Something inside a known object was written to, no telling what: any layer of it may now read anything."""
    root = written.root
    if root is None or root.kind not in (Kind.INSTANCE, Kind.LAYER):
        return
    it.escape(root)
    for member in sorted(keras_objects.members(it, root)[0]):
        layer = it.objects.get(member)
        if isinstance(layer, Layer):
            layer.open_parts = True


# -- items -------------------------------------------------------------------------------------


def get_item(it: Interpreter, base: Value, index: Value, node: ast.AST) -> Value:
    """`base[index]`."""
    if _is_split(base):
        return each_way(it, base, lambda way: get_item(it, way, index, node), node)
    match base.kind:
        case Kind.CONTAINER:
            return _container_item(it, base, index, node)
        case Kind.VARIABLES:
            if index.kind is Kind.LITERAL and isinstance(index.ref, slice):
                return base
            return keras_objects.some_variable(it, base, node)
        case Kind.TENSOR | Kind.VARIABLE:
            return it.operation(node, (base,), label="[]", dead=_index_cut(index))
        case Kind.SYMBOLIC:
            ref = keras_objects.symbolic_operation(it, (base,))
            return it.operation(node, (base,), label="[]", kind=Kind.SYMBOLIC, ref=ref)
        case Kind.UNKNOWN:
            return _unknown_item(it, base, index, node)
        case Kind.PLAIN | Kind.LITERAL:
            return it.operation(node, (base,), label="[]", kind=Kind.PLAIN)
        case Kind.INSTANCE:
            method = class_attribute(it, base.ref.cls, "__getitem__")
            if method is not None:
                return calls.call(it, bind(it, method, base, node), calls.Arguments((index,)), node)
            return it.part(base, node, item=True)
        case Kind.LIBRARY:
            return it.fresh(Kind.TENSOR, node) if "data" in base.ref.symbol else it.part(base, node, item=True)
        case Kind.SYMBOL | Kind.CLASS:
            return it.plain(node)
    return it.part(base, node, item=True)


def _index_cut(index: Value) -> tuple[tuple[Value, Cause], ...]:
    return () if index.kind is Kind.LITERAL else ((index, Cause.NON_DIFFERENTIABLE),)


def _container_item(it: Interpreter, base: Value, index: Value, node: ast.AST) -> Value:
    items = it.items(base)
    if items.exact and index.kind is Kind.LITERAL:
        key = index.ref
        if items.keys is not None:
            if key in items.keys:
                return items.elements[items.keys.index(key)]
        elif isinstance(key, slice):
            if all(bound is None or isinstance(bound, int) for bound in (key.start, key.stop, key.step)):
                return it.container(base.ref.type, Items(items.elements[key]), node)
        elif isinstance(key, int) and -len(items.elements) <= key < len(items.elements):
            return items.elements[key]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return it.container("list", Items(items.elements, None, exact=False), node)
    return element_of(it, base, node)


def _unknown_item(it: Interpreter, base: Value, index: Value, node: ast.AST) -> Value:
    key = ("item", index.ref if index.kind is Kind.LITERAL and isinstance(index.ref, int | str) else "?")
    written = it.store.get((-base.serial - 1, key))
    if written is not None and key[1] != "?" and it.written_at.get((-base.serial - 1, key), 0) > it.havoc:
        return written
    if base.how in (How.JOIN, How.OPERATION):
        return it.operation(node, (base,), label="[]", kind=Kind.UNKNOWN)
    part = it.part(base, node, item=True)
    return part if written is None else it.join([written, part])


def set_item(it: Interpreter, base: Value, index: Value, value: Value, node: ast.AST) -> None:
    """`base[index] = value`."""
    ways = alternatives(base, MOST_WAYS) if _is_split(base) else [base]
    if not ways:
        it.escape(value)
        return
    for way in ways:
        if way.kind is Kind.CONTAINER:
            _set_container_item(it, way, index, value, certain=len(ways) == 1)
        elif way.kind is Kind.INSTANCE and (method := class_attribute(it, way.ref.cls, "__setitem__")) is not None:
            calls.call(it, bind(it, method, way, node), calls.Arguments((index, value)), node)
        elif way.kind is Kind.UNKNOWN:
            it.escape(value)
            if index.kind is Kind.LITERAL and isinstance(index.ref, int | str):
                key = (-way.serial - 1, ("item", index.ref))
                it.store.set(key, value)
                it.written_at[key] = it.tick()
        elif way.kind is Kind.PLAIN:
            way.dead = (*way.dead, *((leaf, Cause.LEFT_TENSORFLOW) for leaf in it.leaves(value)))
        else:
            it.escape(value)


def _set_container_item(it: Interpreter, base: Value, index: Value, value: Value, *, certain: bool) -> None:
    it.stored.setdefault(value.serial, it.frame)
    items = it.items(base)
    if certain and items.exact and index.kind is Kind.LITERAL:
        elements = list(items.elements)
        key = index.ref
        if base.ref.type == "dict" and isinstance(key, str | int | bool):
            keys = list(items.keys or ())
            if key in keys:
                elements[keys.index(key)] = value
            else:
                keys.append(key)
                elements.append(value)
            it.set_items(base, Items(tuple(elements), tuple(keys)))
            return
        if items.keys is None and isinstance(key, int) and -len(elements) <= key < len(elements):
            elements[key] = value
            it.set_items(base, Items(tuple(elements)))
            return
    it.set_items(base, Items((*items.elements, value), None, exact=False))


def extend(it: Interpreter, base: Value, more: Value) -> None:
    """`base.extend(more)`."""
    items = it.items(base)
    known = known_elements(it, more)
    if known is not None:
        it.set_items(base, Items((*items.elements, *known), None, items.exact))
        return
    extra = it.items(more).elements if more.kind is Kind.CONTAINER else (more,)
    if more.kind not in (Kind.CONTAINER, Kind.VARIABLES):
        extra = (element_of(it, more, more.node or ast.Pass()),)
    it.set_items(base, Items((*items.elements, *extra), None, exact=False))


def forget_positions(it: Interpreter, base: Value) -> None:
    """Something was taken out of a container: what is left keeps its elements, not its places."""
    it.set_items(base, Items(it.items(base).elements, None, exact=False))


# -- sequences ---------------------------------------------------------------------------------


def known_elements(it: Interpreter, value: Value) -> list[Value] | None:
    """The elements that iterating yields, when they are all known (keys for a dict)."""
    if value.kind is not Kind.CONTAINER:
        return None
    items = it.items(value)
    if not items.exact:
        return None
    if value.ref.type == "dict":
        if items.keys is None:
            return None if items.elements else []
        return [it.fresh(Kind.LITERAL, value.node, ref=key) for key in items.keys]
    return list(items.elements)


def element_of(it: Interpreter, value: Value, node: ast.AST) -> Value:
    """Any one element of what is iterated."""
    if _is_split(value):
        return each_way(it, value, lambda way: element_of(it, way, node), node)
    match value.kind:
        case Kind.CONTAINER:
            items = it.items(value)
            container: Container = value.ref
            if container.type == "dict" and items.keys is not None:
                return it.plain(node)
            elements = [
                keras_objects.some_variable(it, each, node) if each.kind is Kind.VARIABLES else each
                for each in items.elements
            ]
            if not elements:
                return it.unknown_global(
                    f"<element of {container.id}>", "an element of a container whose contents are not known"
                )
            return it.join(elements)
        case Kind.VARIABLES:
            return keras_objects.some_variable(it, value, node)
        case Kind.TENSOR | Kind.VARIABLE:
            return it.operation(node, (value,), label="[]")
        case Kind.PLAIN | Kind.LITERAL:
            return it.operation(node, (value,), label="[]", kind=Kind.PLAIN)
        case Kind.LIBRARY:
            return it.fresh(Kind.TENSOR, node, label="dataset element")
        case Kind.INSTANCE:
            method = class_attribute(it, value.ref.cls, "__iter__")
            if method is not None:
                made = calls.call(it, bind(it, method, value, node), calls.Arguments(()), node)
                if made.kind is not Kind.INSTANCE:
                    return element_of(it, made, node)
            method = class_attribute(it, value.ref.cls, "__getitem__")
            if method is not None:
                return calls.call(it, bind(it, method, value, node), calls.Arguments((it.plain(node),)), node)
    return it.part(value, node, item=True)


def unpack(it: Interpreter, value: Value, count: int, node: ast.AST) -> list[Value]:
    """The `count` values that unpacking assigns."""
    if _is_split(value):
        ways = alternatives(value, MOST_WAYS)
        if ways:
            columns = zip(*(unpack(it, way, count, node) for way in ways), strict=True)
            return [it.join(list(column)) for column in columns]
    known = known_elements(it, value)
    if known is not None and len(known) == count:
        return known
    if value.kind is Kind.UNKNOWN and value.is_opaque:
        return [_unknown_item(it, value, it.fresh(Kind.LITERAL, node, ref=position), node) for position in range(count)]
    return [element_of(it, value, node) for _ in range(count)]


__all__ = ["DType", "get_attribute", "get_item", "is_literal", "set_attribute", "set_item", "unpack"]
