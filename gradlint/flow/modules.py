"""Modules of the project: what an import binds, and running a module when a name of it is first needed.

An import binds names that are looked up when they are read. A module is run then, as if it had been run at the start
(`interpreter.in_module`), so that what nobody reads costs nothing. Modules that register what they define somewhere
are run where they are imported, as their effect is all that they are imported for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter, OutOfFuel, in_module
from gradlint.flow.names import bind_name
from gradlint.flow.objects import Deferred, ImportedName, Module, Progress
from gradlint.flow.scopes import Frame
from gradlint.flow.state import MOST_MODULES, MOST_MODULES_OF_PROGRAM, START, STRETCH
from gradlint.flow.values import How, Kind, Value
from gradlint.knowledge.symbols import canonical

#: A name may be handed on by so many modules (`__init__.py` files, mostly).
_MOST_HANDED_ON = 20


def module_of(it: Interpreter, path: str) -> Module:
    """The module at this path, not run yet unless it was."""
    known = it.modules.get(path)
    if known is None:
        known = it.modules[path] = Module(it.new_id(), it.sources.finder.name_of(path), path)
    return known


def _read(it: Interpreter, module: Module) -> None:
    """Parse the module, if it can be read and there is room for it."""
    if module.progress is Progress.NOT_READ:
        module.progress = Progress.NOT_RUN
        if module.path.endswith(".py") and len(it.sources_run) < (
            MOST_MODULES_OF_PROGRAM if it.is_program else MOST_MODULES
        ):
            source = it.sources.imported(module.path)
            if source is not None:
                it.give_source(module, source)


def module_value(it: Interpreter, path: str, node: ast.AST | None) -> Value:
    """The module as a value."""
    return it.fresh(Kind.MODULE, node, ref=module_of(it, path))


def imported_name(it: Interpreter, path: str, name: str) -> Value:
    """What `from module import name` binds: one value per name, looked up when it is read."""
    value = it.imported_names.get((path, name))
    if value is None:
        ref = ImportedName(module_of(it, path), name)
        value = it.imported_names[path, name] = Value(Kind.IMPORTED, How.FRESH, 0, ref=ref, label=name)
    return value


def resolve(it: Interpreter, value: Value) -> Value:
    """What an imported name, or a definition that was put off, stands for."""
    for _ in range(_MOST_HANDED_ON):
        if value.kind is not Kind.IMPORTED:
            return value
        if isinstance(value.ref, Deferred):
            value = _define(it, value)
        else:
            imported: ImportedName = value.ref
            value = module_attribute(it, imported.module, imported.name, None)
    return it.unknown_global(value.label, "an import that leads back to itself")


def _define(it: Interpreter, value: Value) -> Value:
    """Run a definition that was put off, as if it had been run when its module was."""
    deferred: Deferred = value.ref
    frame = deferred.module.frame
    assert frame is not None
    key = (frame.id, deferred.node.name)
    now = it.store.get(key)
    if now is not None and now is not value:
        return now  # it was run meanwhile
    with in_module(it, frame, value.serial):
        it.store.set(key, deferred.before)
        _run_statement(it, deferred.node)
        made = it.store.get(key)
    if made is None or made is deferred.before:
        made = it.unknown_global(f"{deferred.module.name}.{value.label}", "a definition that leads back to itself")
        with in_module(it, frame, value.serial):
            it.store.set(key, made)
    return made


def module_attribute(it: Interpreter, module: Module, name: str, node: ast.AST | None) -> Value:
    """`module.name`: what its body binds, what it imports all of, or a module inside a package."""
    full = canonical(f"{module.name}.{name}")
    if it.differentiable or it.nondifferentiable:
        names = {canonical(f"{each}.{name}") for each in it.sources.finder.names_of(module.path)}
        for told in sorted(names & (it.differentiable | it.nondifferentiable)):
            return it.unknown_global(told, "the settings say what it does to a gradient")
    run(it, module)
    if module.frame is not None:
        value = it.store.get((module.frame.id, name))
        if value is None:
            value = starred(it, module, name, node)
        if value is not None and not _is(value, module, name):
            return value
        if name == "__name__":
            return it.fresh(Kind.LITERAL, node, ref=module.name)
    path = it.sources.finder.submodule(module.path, name)
    if path is not None:
        return module_value(it, path, node)
    because = f"`{name}` is not bound in `{module.name}`" if module.source else f"`{module.name}` is not followed"
    return it.unknown_global(full, because)


def set_in_module(it: Interpreter, module: Module, name: str, value: Value) -> None:
    """`module.name = value`."""
    run(it, module)
    if module.frame is not None:
        it.store.set((module.frame.id, name), value)


def _is(value: Value, module: Module, name: str) -> bool:
    """Whether a value is the import of just this name: `from . import losses` in an `__init__.py`."""
    return isinstance(value.ref, ImportedName) and value.ref.module is module and value.ref.name == name


def starred(it: Interpreter, module: Module, name: str, node: ast.AST | None) -> Value | None:
    """A name that the module has from `from other import *`, where the other is of the project."""
    asked = {module.path}
    for other in reversed(module.stars):
        if isinstance(other, Module) and exports(it, other, name, asked):
            return imported_name(it, other.path, name)
    return None


def exports(it: Interpreter, module: Module, name: str, asked: set[str]) -> bool:
    """Whether `from module import *` binds the name: by `__all__`, else every name without an underscore.

    `asked` are modules that were asked already, by this or another way.
    """
    _read(it, module)
    if module.frame is None or module.path in asked:
        return False
    asked.add(module.path)
    bound = name in module.frame.names.local
    if not bound and not module.stars and module.progress is Progress.RUN:
        return False
    if not bound and not any(isinstance(each, ast.ImportFrom) and each.names[0].name == "*" for each in _body(module)):
        return False
    run(it, module)
    listed = it.store.get((module.frame.id, "__all__"))
    if listed is not None and listed.kind is Kind.CONTAINER and it.items(listed).exact:
        names = it.items(listed).elements
        if all(each.kind is Kind.LITERAL for each in names):
            return any(each.ref == name for each in names)
    if name.startswith("_"):
        return False
    return bound or any(isinstance(other, Module) and exports(it, other, name, asked) for other in module.stars)


def _body(module: Module) -> list[ast.stmt]:
    return module.source.tree.body if module.source is not None else []


def run_registering(it: Interpreter, path: str) -> None:
    """Run a module at its import, where it does something to others and a program is looked at."""
    if it.is_program and path.endswith(".py") and it.sources.has_effects(path):
        run(it, module_of(it, path))


def import_by_name(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`importlib.import_module("app.losses")`, where the name is known and the module is the project's own."""
    name, importer = arguments.get(0, "name"), it.module.module
    path = None
    if name is not None and name.kind is Kind.LITERAL and isinstance(name.ref, str) and importer is not None:
        dotted = name.ref.lstrip(".")
        if it.follows_imports and dotted:
            path = it.sources.finder.module(dotted, len(name.ref) - len(dotted), importer.path)
    if path is None:
        return it.unknown(node, "a module whose name is computed", arguments.every())
    run_registering(it, path)
    return module_value(it, path, node)


def run(it: Interpreter, module: Module) -> None:
    """Run the body of a module, the packages that it is in before it, unless that was done or is under way."""
    _read(it, module)
    if module.progress is not Progress.NOT_RUN:
        return
    for parent in it.sources.finder.parents(module.path):
        if it.is_program and it.sources.has_effects(parent):
            run(it, module_of(it, parent))
    if module.progress is not Progress.NOT_RUN:
        return  # a package ran it
    module.progress = Progress.RUNNING
    if module.source is not None and module.frame is not None:
        it.relevance.include(module.source.relevance)
        it.learn_from(module.source)
        it.modules_run += 1  # each has a stretch of the clock to itself: serial numbers are identities
        with in_module(it, module.frame, START - STRETCH * it.modules_run):
            for statement in module.source.tree.body:
                if not it.alive:
                    break
                if isinstance(statement, _DEFINITIONS) and _can_wait(it, statement):
                    before = it.store.get((module.frame.id, statement.name))
                    it.clock += _STRETCH_OF_DEFINITION
                    waits = Value(Kind.IMPORTED, How.FRESH, it.clock, ref=Deferred(module, statement, before))
                    waits.label = statement.name
                    it.clock += _STRETCH_OF_DEFINITION
                    bind_name(it, statement.name, waits)
                else:
                    _run_statement(it, statement)
        if it.open_code:
            hand_out(it, module.frame)
    module.progress = Progress.RUN


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: Clock ticks that a definition may take, and more.
_STRETCH_OF_DEFINITION = 10**5


def _can_wait(it: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether defining this does nothing to anything else: its decorators are known, and so is what makes the class."""
    for decorator in node.decorator_list:
        root = decorator
        while isinstance(root, ast.Attribute | ast.Call):
            root = root.value if isinstance(root, ast.Attribute) else root.func
        inner = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(inner, ast.Attribute) and inner.attr == "register":
            return False  # of `functools.singledispatch`, whatever the module of the dispatcher holds
        if not isinstance(root, ast.Name) or not _changes_nothing(
            it, root.id, is_method=isinstance(inner, ast.Attribute)
        ):
            return False
    return not (isinstance(node, ast.ClassDef) and (node.keywords or _has_base_that_notes(it, node)))


def _has_base_that_notes(it: Interpreter, node: ast.ClassDef) -> bool:
    """Whether a base of the class, in this or an imported module, runs code for each class derived from it."""
    for base in node.bases:
        root = base
        while isinstance(root, ast.Attribute):
            root = root.value
        bound = it.store.get((it.frame.id, root.id)) if isinstance(root, ast.Name) else None
        if bound is not None and isinstance(bound.ref, ImportedName | Deferred):
            if it.sources.notes_subclasses(bound.ref.module.path):
                return True
        if bound is not None and isinstance(bound.ref, Module) and it.sources.notes_subclasses(bound.ref.path):
            return True
    return False


def _changes_nothing(it: Interpreter, name: str, *, is_method: bool) -> bool:
    """Whether a decorator is a library's, or one of a module that puts nothing into anything."""
    bound = it.store.get((it.frame.id, name))
    if bound is None:
        return name in _BUILT_IN
    module = it.module.module
    if isinstance(bound.ref, Deferred):
        return not is_method and module is not None and not it.sources.stores(module.path)
    if isinstance(bound.ref, ImportedName | Module):
        other = bound.ref.module if isinstance(bound.ref, ImportedName) else bound.ref
        return not it.sources.stores(other.path)
    return bound.kind is Kind.SYMBOL


_BUILT_IN = frozenset({"staticmethod", "classmethod", "property"})


def _run_statement(it: Interpreter, statement: ast.stmt) -> None:
    allowed = it.fuel = min(it.fuel_for_imports // 5, it.import_fuel)
    attempt(it, statement, lambda: it.run_body([statement]))
    it.import_fuel -= allowed - max(it.fuel, 0)


def attempt(it: Interpreter, node: ast.AST, run_it: Callable[[], None]) -> None:
    """Run something as far as the fuel goes; the names that a statement binds are unknown when that is not enough."""
    try:
        if it.fuel <= 0:
            raise OutOfFuel
        run_it()
    except OutOfFuel:
        it.abandon()
        it.gave_up.append((node, "too much to follow"))
        for name in it.names_of(ast.Module([node], [])).local if isinstance(node, ast.stmt) else ():
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                bind_name(it, name, it.unknown_global(name, "the statement that binds it is too much to follow"))


def hand_out(it: Interpreter, frame: Frame) -> None:
    """Whoever imports a module has the objects that its names hold."""
    for name in sorted(frame.names.local):
        value = it.store.get((frame.id, name))
        if value is not None and value.kind in (Kind.VARIABLE, Kind.LAYER, Kind.INSTANCE):
            it.escape(value, at=0)
