"""Classes of the file: definition, dataclasses, making instances, open `self`."""

from __future__ import annotations

import ast
import re

from gradlint.flow.arguments import Arguments, symbol_of
from gradlint.flow.container_methods import container_method
from gradlint.flow.decorators import can_be_run
from gradlint.flow.functions import open_arguments
from gradlint.flow.instances import bind_method, class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.keras_methods import inherited_init
from gradlint.flow.made_anew import note_own_layer_made
from gradlint.flow.members import is_keras_family
from gradlint.flow.objects import (
    Class,
    Function,
    Instance,
    Transformed,
)
from gradlint.flow.own_containers import contents_of, give_contents
from gradlint.flow.scopes import Frame
from gradlint.flow.values import Kind, Value

#: Decorators that make an `__init__` of the annotated names, with options or without.
_GENERATING_INIT = frozenset(
    {"dataclasses.dataclass", "flax.struct.dataclass", "chex.dataclass", "pydantic.dataclasses.dataclass", "attr.s",
     "attr.attrs", "attr.define", "attr.frozen", "attr.mutable", "attr.dataclass", "attrs.define", "attrs.frozen",
     "attrs.mutable"}
)  # fmt: skip


def define_class(it: Interpreter, node: ast.ClassDef) -> Value:
    """The value of a `class` statement: its body is run once, in its own frame."""

    bases: list[Class] = []
    families: list[str] = []
    open_base = False
    for base_node in node.bases:
        base = it.evaluate(base_node)
        if base.kind is Kind.CLASS:
            bases.append(base.ref)
            families.extend(base.ref.families)
            open_base = open_base or base.ref.open_base
        elif base.kind is Kind.SYMBOL:
            families.append(base.ref)
        elif base.kind is not Kind.PLAIN:
            open_base = True
    keywords = {each.arg: it.evaluate(each.value) for each in node.keywords if each.arg is not None}
    made = Class(it.new_id(), node.name, node, it.frame, tuple(bases), tuple(families), open_base)
    it.classes.append(made)
    value = it.fresh(Kind.CLASS, node, ref=made)
    first = len(it.functions)
    frame = Frame(
        made.id, it.frame, it.frame.caller, it.frame.call_node, it.frame.function, it.names_of(node),
        is_class=True, cls=made, depth=it.frame.depth, name=node.name,
    )  # fmt: skip
    outer = it.frame
    it.frame = frame
    try:
        it.run_body(node.body)
    finally:
        it.frame = outer
    for each in it.functions[first:]:
        if each.frame is frame and each.owner is None:
            each.owner = made
    _tell_bases(it, value, keywords, node)
    for decorator in node.decorator_list:
        decorated = it.evaluate(decorator)
        if can_be_run(it, decorated):
            returned = it.call(decorated, Arguments((value,)), decorator)
            value = returned if returned.kind is Kind.CLASS else value
        with_options = it.evaluate(decorator.func) if isinstance(decorator, ast.Call) else decorated
        if symbol_of(with_options) in _GENERATING_INIT:
            made.is_dataclass = True
    if any(family.endswith("NamedTuple") or family == "pydantic.BaseModel" for family in made.families):
        made.is_dataclass = True
    made.is_dataclass = made.is_dataclass or any(base.is_dataclass for base in bases)
    return value


def _tell_bases(it: Interpreter, cls: Value, keywords: dict[str, Value], node: ast.ClassDef) -> None:
    """Run `__init_subclass__` of the nearest base that has one: a class method, by whatever name it is decorated."""
    hook = next(
        (found for base in cls.ref.bases if (found := class_attribute(it, base, "__init_subclass__")) is not None), None
    )
    while hook is not None and isinstance(hook.ref, Transformed):
        hook = hook.ref.function
    if hook is not None and isinstance(hook.ref, Function):
        given = {name: value for name, value in keywords.items() if name != "metaclass"}
        it.call(hook, Arguments((cls,), given), node)


def instantiate(it: Interpreter, cls: Value, arguments: Arguments, node: ast.AST) -> Value:
    """A new object, its `__init__` run."""
    made = Instance(it.new_id(), cls.ref)
    value = it.fresh(Kind.INSTANCE, node, ref=made)
    give_contents(it, value, node)
    initialise(it, value, arguments, node)
    if is_keras_family(cls.ref):
        note_own_layer_made(it, value, node)
    return value


def initialise(it: Interpreter, value: Value, arguments: Arguments, node: ast.AST) -> None:
    """Run `__init__` (or what a dataclass generates) on a new object."""
    instance: Instance = value.ref
    init = class_attribute(it, instance.cls, "__init__")
    if init is not None:
        it.call(bind_method(it, init, value, node), arguments, node)
    elif instance.cls.is_dataclass or (arguments.every() and _has_generated_init(instance.cls)):
        _fill_dataclass(it, value, arguments, node)
    elif is_keras_family(instance.cls):
        inherited_init(it, value, arguments)
    elif (contents := contents_of(it, value)) is not None:
        container_method(it, contents, "__init__", arguments, node)
    elif instance.cls.open_base or instance.cls.families:
        for argument in arguments.every():
            it.escape(argument)


def _has_generated_init(cls: Class) -> bool:
    """Whether only something that cannot be seen can take the arguments: a decorator, and for its fields."""
    return bool(cls.node.decorator_list) and not cls.families and not cls.open_base


def _fill_dataclass(it: Interpreter, value: Value, arguments: Arguments, node: ast.AST) -> None:
    cls: Class = value.ref.cls
    fields: list[tuple[str, ast.AnnAssign]] = []
    for each in reversed(cls.lineage()):
        for statement in each.node.body:
            if (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and not _NO_FIELD.search(ast.unparse(statement.annotation))
            ):
                fields = [field for field in fields if field[0] != statement.target.id]
                fields.append((statement.target.id, statement))
    positional = iter(arguments.positional)
    for name, statement in fields:
        given: Value | None = None
        if _is_given(statement):
            given = next(positional, None) or arguments.keywords.get(name)
        if given is None and (arguments.more is not None or arguments.more_keywords is not None):
            given = it.parameter(name, statement)
            default = class_attribute(it, cls, name)
            if default is not None and default.kind is Kind.LITERAL:
                given = it.join([default, given])
        if given is None:
            default = class_attribute(it, cls, name)
            given = _field_default(it, default, statement) if default is not None else it.parameter(name, statement)
        it.write_cell(value.ref, name, given)
    post = class_attribute(it, cls, "__post_init__")
    if post is not None:
        it.call(bind_method(it, post, value, node), Arguments(()), node)


#: Annotations of names that are no fields.
_NO_FIELD = re.compile(r"^[\"']?(?:typing\.|dataclasses\.)?(?:ClassVar\b|KW_ONLY\b)")


def _is_given(statement: ast.AnnAssign) -> bool:
    """Whether the generated `__init__` takes the field: not `x: T = field(init=False)`."""
    keywords = statement.value.keywords if isinstance(statement.value, ast.Call) else []
    return not any(
        each.arg == "init" and isinstance(each.value, ast.Constant) and each.value.value is False for each in keywords
    )


def _field_default(it: Interpreter, default: Value, statement: ast.AnnAssign) -> Value:
    if isinstance(statement.value, ast.Call) and default.kind is Kind.UNKNOWN:
        for keyword in statement.value.keywords:
            if keyword.arg == "default":
                return it.evaluate(keyword.value)
            if keyword.arg == "default_factory":
                factory = it.evaluate(keyword.value)
                return it.call(factory, Arguments(()), statement)
    return default


def open_instance(it: Interpreter, cls: Class) -> Value:
    """Any object of the class: `__init__` run on unknown arguments, then known to strangers."""
    found = it.open_instances.get(cls.id)
    if found is not None:
        return found
    made = Instance(it.new_id(), cls, open_self=True)
    value = it.fresh(Kind.INSTANCE, cls.node, ref=made)
    give_contents(it, value, cls.node)
    it.open_instances[cls.id] = value
    init = class_attribute(it, cls, "__init__")
    if init is not None or cls.is_dataclass:
        given = Arguments((), {}, it.parameter("arguments"), it.parameter("arguments"))
        if init is not None and isinstance(init.ref, Function):
            opened = open_arguments(it, init.ref, None)
            names = [argument.arg for argument in init.ref.node.args.args[:1]]
            given = Arguments((), {key: each for key, each in opened.keywords.items() if key not in names})
        initialise(it, value, given, cls.node)
    it.escape(value, at=0)
    return value
