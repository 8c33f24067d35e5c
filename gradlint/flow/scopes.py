"""Scopes: frames of running code, and which names a function binds (Python's own rules)."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradlint.flow.objects import Class, Function, Module

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a scope binds, and those it declares to live elsewhere."""

    local: frozenset[str]
    global_: frozenset[str]
    nonlocal_: frozenset[str]
    yields: bool


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a scope. `parent` is the lexical one, `caller` the dynamic one, `top` that of the module."""

    id: int
    parent: Frame | None
    caller: Frame | None
    call_node: ast.AST | None
    function: Function | None
    names: Names
    is_class: bool = False
    is_comprehension: bool = False
    cls: Class | None = None
    depth: int = 0
    name: str = ""
    graph: bool = False
    module: Module | None = None
    top: Frame = field(init=False)

    def __post_init__(self) -> None:
        self.top = self if self.parent is None else self.parent.top

    @property
    def is_module(self) -> bool:
        return self.parent is None

    def callers(self) -> list[Frame]:
        """The frame and its callers, innermost first."""
        found: list[Frame] = []
        each: Frame | None = self
        while each is not None:
            while each.is_comprehension and each.parent is not None:
                each = each.parent  # a comprehension is a part of the function that it stands in
            found.append(each)
            each = each.caller
        return found


class _Binder(ast.NodeVisitor):
    """Collects what a scope binds; does not enter nested scopes."""

    def __init__(self) -> None:
        self.local: set[str] = set()
        self.global_: set[str] = set()
        self.nonlocal_: set[str] = set()
        self.yields = False

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.local.add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.local.add(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.local.add(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        return

    def _comprehension(self, node: ast.AST) -> None:
        # Only walrus targets bind in the enclosing scope.
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr):
                self.local.add(each.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.local.add(alias.asname or alias.name.split(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.local.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.local.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.local.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.local.add(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.global_.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocal_.update(node.names)

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        self.yields = True
        self.generic_visit(node)

    visit_YieldFrom = visit_Yield


def names_of(scope: Scope) -> Names:
    """The names that the scope binds."""
    binder = _Binder()
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        arguments = scope.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        binder.local.update(argument.arg for argument in every)
    body = [scope.body] if isinstance(scope, ast.Lambda) else scope.body
    for statement in body:
        binder.visit(statement)
    elsewhere = binder.global_ | binder.nonlocal_
    return Names(
        frozenset(binder.local - elsewhere), frozenset(binder.global_), frozenset(binder.nonlocal_), binder.yields
    )


def comprehension_names(targets: list[ast.expr]) -> Names:
    """The names that the `for` clauses of a comprehension bind."""
    binder = _Binder()
    for target in targets:
        binder.visit(target)
    return Names(frozenset(binder.local), frozenset(), frozenset(), False)
