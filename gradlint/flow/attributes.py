"""Attributes: reading and writing `value.name` for values of every kind."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.enumerations import Member, is_enumeration, member_attribute, member_named
from gradlint.flow.instances import bind_method, class_attribute, is_empty, is_overridden, method_of, open_part
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.keras_methods import KERAS_METHODS, inherited_attribute, layer_attribute
from gradlint.flow.lifecycle import note_rate
from gradlint.flow.members import VARIABLE_SETS, is_keras_family, is_module_family, members_within, variable_set
from gradlint.flow.modules import module_attribute, set_in_module
from gradlint.flow.objects import (
    Class,
    Function,
    Instance,
    Layer,
    LibraryObject,
    Super,
    Transformed,
    Variable,
)
from gradlint.flow.optimizers import is_optimizer
from gradlint.flow.options import is_flags
from gradlint.flow.own_containers import contents_of
from gradlint.flow.sequences import MOST_WAYS, each_way, get_item, is_split, set_item
from gradlint.flow.snapshots import note_snapshot
from gradlint.flow.statistics import note_weight_frozen
from gradlint.flow.tracing import (
    forget_fit,
    note_callback_sets,
    note_number_read,
    note_object_read,
    note_trainable_set,
    note_unknown_trainable_set,
)
from gradlint.flow.tracking import copy_list, note_kept
from gradlint.flow.values import SHAPE_ATTRIBUTES, TRUE, How, Kind, Value, alternatives
from gradlint.knowledge.symbols import canonical

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


def get_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    """`base.name`."""
    if is_split(base):
        return each_way(it, base, lambda way: get_attribute(it, way, name, node), node)
    if name == "__name__" and isinstance(base.ref, Function | Class) and base.how is not How.JOIN:
        return it.fresh(Kind.LITERAL, node, ref=base.ref.name)
    match base.kind:
        case Kind.SYMBOL:
            if name in it.flags and is_flags(base.ref):
                return it.flags[name]
            return it.fresh(Kind.SYMBOL, node, ref=canonical(f"{base.ref}.{name}"))
        case Kind.MODULE:
            return it.resolve(module_attribute(it, base.ref, name, node))
        case Kind.UNKNOWN:
            return _unknown_attribute(it, base, name, node)
        case Kind.TENSOR | Kind.VARIABLE | Kind.SYMBOLIC:
            return _tensor_attribute(it, base, name, node)
        case Kind.INSTANCE:
            return instance_attribute(it, base, name, node)
        case Kind.LAYER:
            return layer_attribute(it, base, name, node)
        case Kind.CLASS:
            return _class_attribute_value(it, base, name, node)
        case Kind.PLAIN:
            written = it.store.get((-base.serial - 1, name))
            if written is not None:
                return written
            if name == "shape" and base.shape is not None:
                told = it.tuple_of([_length(it, each, node) for each in base.shape], node)
                told.operands = (base,)
                return told
            part = it.operation(node, (base,), label=name, kind=Kind.PLAIN)
            part.operands = (base,)
            return part
        case Kind.FUNCTION:
            if isinstance(base.ref, Super):
                return _super_attribute(it, base.ref, name, node)
            return method_of(it, base, name, node)
        case Kind.LIBRARY:
            return _library_attribute(it, base, name, node)
        case Kind.CONTAINER if base.label.startswith(("tf.", "keras.")):
            return it.join(list(it.items(base).elements))
        case Kind.CONTAINER if name in base.ref.fields:
            position: int = base.ref.fields.index(name)
            return it.items(base).elements[position]
        case Kind.LITERAL if isinstance(base.ref, Member):
            return member_attribute(it, base, name, node)
        case Kind.LITERAL if base.ref is None:
            return it.unknown_global(f"<{name} of None>", f"`{name}` of a value that is None as far as it was followed")
    return method_of(it, base, name, node)


def _unknown_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    written = it.store.get((-base.serial - 1, name))
    if written is not None and it.written_at.get((-base.serial - 1, name), 0) > it.havoc:
        return written
    if name in VARIABLE_SETS:
        return variable_set(it, base, name, node)
    memo = it.member_values.get((-base.serial - 1, name))
    if memo is not None and (written is None):
        return memo
    if name == "lr" and _is_optimizer_of_model(it, node) and isinstance(getattr(node, "ctx", None), ast.Load):
        note_rate(it, base, node, None, "AttributeError")
    part = it.part(base, node)
    part.label = name if name in SHAPE_ATTRIBUTES else "part"
    if written is not None:
        return it.join([written, part])
    if base.how is not How.OPERATION:
        it.member_values[(-base.serial - 1, name)] = part
    return part


def _tensor_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    if name in _PLAIN_OF_TENSOR:
        told = it.plain(node)
        told.operands = (base,) if name in ("shape", "name") else ()
        told.label = name if name in ("name", *SHAPE_ATTRIBUTES) else ""
        return told
    if name == "T" or name in ("values", "flat_values", "real", "imag"):
        return it.operation(node, (base,), label=name)
    if name == "value" and base.kind is Kind.VARIABLE and base.ref is not None and base.ref.keras:
        # The backend variable behind a keras.Variable: the same thing to a tape.
        return _backend_variable(it, base, node)
    return method_of(it, base, name, node)


def _length(it: Interpreter, length: int | None, node: ast.AST) -> Value:
    return it.plain(node) if length is None else it.fresh(Kind.LITERAL, node, ref=length)


def _backend_variable(it: Interpreter, base: Value, node: ast.AST) -> Value:
    variable: Variable = base.ref
    key = (variable.id, "value")
    found = it.member_values.get(key)
    if found is None:
        behind = Variable(
            it.new_id(),
            variable.name,
            False,
            variable.trainable,
            variable.node,
            owner=variable,
            integer=variable.integer,
        )
        found = it.fresh(Kind.VARIABLE, node, ref=behind)
        it.member_values[key] = found
    return found


def has_attribute(it: Interpreter, value: Value, name: str) -> bool | None:
    """Whether an object surely has, or surely lacks, an attribute."""
    if is_optimizer(value) and it.keras_3 and name in ("minimize", "lr"):
        return False  # no optimizer of Keras 3 has them
    if value.kind is not Kind.INSTANCE:
        return None
    instance: Instance = value.ref
    if it.store.get((instance.id, name)) is not None or class_attribute(it, instance.cls, name) is not None:
        return True
    cls = instance.cls
    if instance.open_self or instance.escaped_at is not None or cls.open_base or name in KERAS_METHODS:
        return None
    if class_attribute(it, cls, "__getattr__") is not None or name in VARIABLE_SETS or hasattr(object, name):
        return None
    return False


def instance_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    """An attribute of an object of this file's classes."""
    instance: Instance = base.ref
    found = class_attribute(it, instance.cls, name)
    if (
        found is not None
        and isinstance(found.ref, Transformed)
        and found.ref.transformer in ("property", "cached_property")
    ):
        return bind_method(it, found, base, node)
    own = it.read_cell(instance, name)
    if own is not None:
        if it.tracing is not None and (own.kind in (Kind.LITERAL, Kind.PLAIN) or own.how is How.JOIN):
            note_number_read(it, (instance.id, name), ast.unparse(node) if isinstance(node, ast.expr) else name, own)
        elif it.tracing is not None:
            note_object_read(it, (instance.id, name), ast.unparse(node) if isinstance(node, ast.expr) else name, own)
        if instance.open_self and (name in it.relevance.assigned_outside_init or is_empty(it, own)):
            because = f"`self.{name}` is also set outside `__init__`"
            return it.join([own, it.state_unknown(f"<self{instance.id}.{name}>", because, node)])
        return own
    if found is not None:
        if instance.open_self and is_overridden(it, instance.cls, name):
            return open_part(it, base, name, node)
        bound = bind_method(it, found, base, node)
        if instance.open_self and not isinstance(found.ref, Function | Transformed):
            return it.join([bound, it.state_unknown(f"<self{instance.id}.{name}>", f"`{name}` may be set anew", node)])
        if instance.open_self and isinstance(found.ref, Transformed) and found.ref.transformer == "staticmethod":
            if found.node is None or not isinstance(found.node, ast.FunctionDef):
                return it.join(
                    [bound, it.state_unknown(f"<self{instance.id}.{name}>", f"`{name}` may be set anew", node)]
                )
        return bound
    contents = contents_of(it, base)
    if contents is not None:
        return _contents_attribute(it, base, contents, name, node)
    if name in ("add_weight", "add_variable") and any("metrics" in family for family in instance.cls.families):
        return method_of(it, base, name, node)
    if is_keras_family(instance.cls) or is_module_family(instance.cls):
        return inherited_attribute(it, base, name, node)
    if instance.open_self or instance.cls.open_base or instance.escaped_at is not None:
        return open_part(it, base, name, node)
    getter = class_attribute(it, instance.cls, "__getattr__")
    if getter is not None or name in it.relevance.assigned_outside_init:
        return open_part(it, base, name, node)
    return open_part(it, base, name, node)


def _contents_attribute(it: Interpreter, base: Value, contents: Value, name: str, node: ast.AST) -> Value:
    """An attribute of an object that is a dict or a list: a method of those, or an item by its name."""
    if name == "data" and any("User" in family for family in base.ref.cls.families):
        return contents
    getter = class_attribute(it, base.ref.cls, "__getattr__")
    if getter is None or hasattr({"dict": dict, "list": list}[contents.ref.type], name):
        return method_of(it, contents, name, node)
    key = it.fresh(Kind.LITERAL, node, ref=name)
    if getter.kind is Kind.SYMBOL:  # `__getattr__ = dict.__getitem__`
        return get_item(it, contents, key, node)
    return it.call(bind_method(it, getter, base, node), Arguments((key,)), node)


def _class_attribute_value(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    found = class_attribute(it, base.ref, name)
    if is_enumeration(base.ref) and (member := member_named(it, base.ref, name, node)) is not None:
        return member
    if found is None:
        if name == "__init__":
            return method_of(it, base, name, node)
        return it.part(base, node)
    if isinstance(found.ref, Transformed):
        return bind_method(it, found, base, node) if found.ref.transformer in ("classmethod", "staticmethod") else found
    return found


def _super_attribute(it: Interpreter, proxy: Super, name: str, node: ast.AST) -> Value:
    lineage = proxy.receiver.ref.cls.lineage() if proxy.receiver.kind is Kind.INSTANCE else proxy.cls.lineage()
    after = lineage[lineage.index(proxy.cls) + 1 :] if proxy.cls in lineage else []
    for each in after:
        value = it.store.get((each.id, name))
        if value is not None:
            return bind_method(it, value, proxy.receiver, node)
    contents = contents_of(it, proxy.receiver)
    if contents is not None:
        return method_of(it, contents, name, node)
    return method_of(it, it.fresh(Kind.FUNCTION, node, ref=proxy), name, node)


def _library_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    owner: LibraryObject = base.ref
    if name == "lr" and is_optimizer(base):
        note_rate(it, base, node, None, "AttributeError")
    if name in ("variables", "weights") and is_optimizer(base):
        it.store.set((owner.id, "<slots read>"), TRUE)  # the file may reset its moments
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
    ways = alternatives(base, MOST_WAYS) if is_split(base) else [base]
    if name == "train_function":
        forget_fit(it, base)  # the next `fit` traces anew
    for way in ways or ():
        old = None
        if len(ways or ()) > 1 and way.kind in (Kind.INSTANCE, Kind.LAYER, Kind.LIBRARY):
            old = it.store.get((way.ref.id, name))
        stored = value if old is None else it.join([old, value])
        match way.kind:
            case Kind.LAYER | Kind.INSTANCE if name == "trainable":
                _set_trainable(it, way, stored, node)
            case Kind.VARIABLE if name == "trainable":
                note_weight_frozen(it, way, stored, node)
            case Kind.LAYER:
                if value.kind not in (Kind.LITERAL, Kind.PLAIN):
                    way.ref.open_parts = True  # what calling it reads is not the library's alone any more
                    if isinstance(way.ref.part_of, Layer):
                        way.ref.part_of.open_parts = True
                    it.escape(way)
                it.write_cell(way.ref, name, stored)
            case Kind.INSTANCE | Kind.LIBRARY | Kind.CLASS:
                if name == "lr" and is_optimizer(way):
                    note_rate(it, way, node, None, "")
                note_kept(it, way, name, value, node)
                note_snapshot(it, way, name, value, node)
                note_callback_sets(it, name, stored, node)
                if _set_as_item(it, way, name, stored, node) or _set_by_property(it, way, name, stored, node):
                    continue
                it.write_cell(way.ref, name, copy_list(it, way, stored))
            case Kind.MODULE:
                set_in_module(it, way.ref, name, stored)
            case Kind.SYMBOL if is_flags(way.ref):
                it.flags[name] = it.join([it.flags[name], stored]) if name in it.flags else stored
            case Kind.PLAIN:
                it.escape(value)
                it.store.set((-way.serial - 1, name), stored)
            case Kind.UNKNOWN:
                if name == "trainable":
                    note_unknown_trainable_set(it, stored, node)
                note_callback_sets(it, name, stored, node)
                if name == "lr" and _is_optimizer_of_model(it, node):
                    note_rate(it, way, node, None, "")
                it.escape(value)
                _open_members(it, way, name, value)
                it.store.set((-way.serial - 1, name), stored)
                it.written_at[(-way.serial - 1, name)] = it.tick()
            case _:
                it.escape(value)


def _set_by_property(it: Interpreter, base: Value, name: str, value: Value, node: ast.AST) -> bool:
    """A property with a setter: the setter is called."""
    found = class_attribute(it, base.ref.cls, name) if base.kind is Kind.INSTANCE else None
    if found is None or not isinstance(found.ref, Transformed) or found.ref.setter is None:
        return False
    it.call(bind_method(it, found.ref.setter, base, node), Arguments((value,)), node)
    return True


def _set_as_item(it: Interpreter, base: Value, name: str, value: Value, node: ast.AST) -> bool:
    """`__setattr__ = dict.__setitem__`: the attributes of such an object are its items."""
    contents = contents_of(it, base)
    setter = class_attribute(it, base.ref.cls, "__setattr__") if contents is not None else None
    if contents is None or setter is None or setter.kind is not Kind.SYMBOL:
        return False
    set_item(it, contents, it.fresh(Kind.LITERAL, node, ref=name), value, node)
    return True


def _set_trainable(it: Interpreter, way: Value, stored: Value, node: ast.AST) -> None:
    """`layer.trainable = x`."""
    note_trainable_set(it, way, members_within(it, way)[0], stored, node)
    whole = way.ref.part_of if isinstance(way.ref, Layer) else None
    for member in sorted({way.ref.id, *members_within(it, way)[0]}):
        if whole is None or member == way.ref.id:
            it.store.set((member, "trainable"), stored)  # Keras hands it on to all that is inside
        else:  # some layer of a model, no telling which
            before = it.store.get((member, "trainable"))
            it.store.set((member, "trainable"), it.join([before if before is not None else TRUE, stored]))
    it.write_cell(way.ref, "trainable", stored)


def _is_optimizer_of_model(it: Interpreter, node: ast.AST) -> bool:
    """`self.model.optimizer.lr = x` in a callback of Keras, where the model cannot be seen."""
    written = ast.unparse(node)
    cls = it.frame.function.owner if it.frame.function is not None else None
    is_callback = cls is not None and any("callbacks." in family for family in cls.families)
    return is_callback and written == "self.model.optimizer.lr"


def _open_members(it: Interpreter, written: Value, name: str, value: Value) -> None:
    """Something inside a known object was written to, no telling what: any layer of it may now read anything."""
    root = written.root
    if root is None or root.kind not in (Kind.INSTANCE, Kind.LAYER):
        return
    it.escape(root)
    for member in sorted(members_within(it, root)[0]):
        owner = it.objects.get(member)
        if isinstance(owner, Layer):
            owner.open_parts = True
        elif isinstance(owner, Instance):
            old = it.store.get((owner.id, name))
            if old is not None:
                it.write_cell(owner, name, it.join([old, value]))
