"""Is this statement of the block the only way from the sources to the target? Answers no when it cannot be seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from mutation.names import Scope, dotted, is_new_tensor, loaded, mentions, own_nodes, stored
from mutation.source import Ask

_WEIGHTS = frozenset(["trainable_variables", "trainable_weights", "variables", "weights"])


def sources_of_callee(ask: Ask, callee: ast.expr) -> bool:
    """Whether the sources are the weights of the very object that is called."""
    name = dotted(callee)
    sources = _resolved(ask, ask.sources)
    return name is not None and name != "self" and isinstance(sources, ast.Attribute) and _is_weights_of(sources, name)


def _is_weights_of(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _WEIGHTS and dotted(node.value) == name


def _resolved(ask: Ask, sources: ast.expr) -> ast.expr:
    """What a name was bound to, when it is bound once in the function."""
    if isinstance(sources, ast.Name):
        bound = [
            one
            for one in own_nodes(ask.function)
            if isinstance(one, ast.Name) and one.id == sources.id and not _reads(one)
        ]
        if len(bound) == 1:
            statement = ask.source.statement_of(bound[0])
            if isinstance(statement, ast.Assign) and statement.targets == [bound[0]]:
                return statement.value
    return sources


def _reads(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def depends_on(ask: Ask, index: int) -> bool:
    """Whether the target is computed, statement by statement, from what the statement binds."""
    reached = stored(ask.block.body[index])
    for statement in ask.block.body[index + 1 : ask.inside]:
        if loaded(statement) & reached:
            reached |= stored(statement)
    return ask.target in reached


@dataclass(frozen=True)
class OnlyWay:
    """The question whether `origin` (a model, or a source) is read under the tape by the statement `index` alone."""

    ask: Ask
    origin: ast.expr
    index: int

    def holds(self) -> bool:
        name = dotted(self.origin)
        if name is None or name == "self" or not mentions(self.ask.block.body[self.index], name):
            return False
        return not self._is_read_elsewhere(name) and not self._has_alias(name) and self._callees_do_not_know(name)

    def holds_for_all_reads(self) -> bool:
        """The same, when every read that is written in the block is taken together."""
        name = dotted(self.origin)
        return name is not None and not self._has_alias(name) and self._callees_do_not_know(name)

    def _others(self) -> list[ast.stmt]:
        """The statements of the block that could read the origin, without those that only list its weights."""
        body = self.ask.block.body
        return [one for i, one in enumerate(body) if i != self.index and not self._only_watches_or_asks(one)]

    def _only_watches_or_asks(self, statement: ast.stmt) -> bool:
        if self.ask.is_tape_only(statement):
            return True
        match statement:
            case ast.Assign(targets=[ast.Name(id=bound)], value=ast.Attribute() as value):
                return _is_weights_of(value, dotted(self.origin) or "") and mentions(self.ask.sources, bound)
        return statement is self.ask.statement

    def _is_read_elsewhere(self, name: str) -> bool:
        own = self.ask.block.body[self.index]
        here = sum(dotted(node) == name for node in ast.walk(own))
        return here != 1 or any(mentions(one, name) for one in self._others())

    def _has_alias(self, name: str) -> bool:
        """Whether the block reads a name that was made from the origin, or that the origin was made from."""
        fresh = {bound for one in self.ask.block.body for bound in stored(one)}
        near = {read for one in self._in_block() for read in self._read_chains(one)} - fresh
        return any(other in near for other in self._relatives(name)) or self._is_collected(name, near)

    def _in_block(self) -> list[ast.stmt]:
        return [*self._others(), self.ask.block.body[self.index]]

    @staticmethod
    def _read_chains(root: ast.AST) -> Iterator[str]:
        for node in ast.walk(root):
            chain = dotted(node)
            if chain is not None:
                yield chain

    def _relatives(self, name: str) -> Iterator[str]:
        for left, value in self._bindings():
            bound = dotted(left)
            if bound is None:
                yield from (chain for chain in self._read_chains(left) if mentions(value, name))
            elif mentions(value, name) and bound != name:
                yield bound
            elif bound == name and not self._is_made_new(value):
                yield from (chain for chain in self._read_chains(value) if chain not in {name, "self"})

    def _is_made_new(self, value: ast.expr) -> bool:
        """Whether the value is a new object: an operation on tensors, or a constructor by its capital."""
        function = dotted(value.func) if isinstance(value, ast.Call) else None
        constructed = function is not None and function.split(".")[-1][:1].isupper()
        return constructed or is_new_tensor(value, self.ask.source.roots)

    def _bindings(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Assignments of the function above the block, of the module, and of `self.x` anywhere."""
        nodes = [*own_nodes(self.ask.function)]
        inside = {node for one in self.ask.block.body for node in ast.walk(one)}
        above = [node for node in nodes if node not in inside and getattr(node, "lineno", 0) < self.ask.block.lineno]
        attributes = [
            node for node in ast.walk(self.ask.source.tree) if isinstance(node, ast.Assign) and node not in inside
        ]
        attributes = [node for node in attributes if any(isinstance(left, ast.Attribute) for left in node.targets)]
        for node in dict.fromkeys([*above, *self.ask.source.tree.body, *attributes]):
            match node:
                case ast.Assign(targets=targets, value=value):
                    yield from ((left, value) for left in targets)
                case ast.AnnAssign(target=left, value=ast.expr() as value) | ast.NamedExpr(target=left, value=value):
                    yield left, value
                case ast.For(target=left, iter=value):
                    yield left, value

    def _is_collected(self, name: str, near: set[str]) -> bool:
        """Whether a call above the block hands the origin to something that the block reads (`params.append(w)`)."""
        for node in own_nodes(self.ask.function):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno < self.ask.block.lineno:
                receiver = node.value.func.value if isinstance(node.value.func, ast.Attribute) else None
                chain = dotted(receiver) if receiver is not None else None
                if mentions(node, name) and chain is not None and chain != name and chain in near:
                    return True
        return False

    def _callees_do_not_know(self, name: str) -> bool:
        rooted_in_self = name.startswith("self.")
        for statement in self._in_block():
            for node in ast.walk(statement):
                if isinstance(node, ast.Lambda | ast.FunctionDef):
                    return False
                if isinstance(node, ast.Name) and node.id == "self" and rooted_in_self and not self._is_member(node):
                    return False  # the whole of `self` is handed on
                if isinstance(node, ast.Call) and node.func is not self.origin and not self._is_blind(node, name):
                    return False
        return True

    def _is_member(self, node: ast.Name) -> bool:
        return isinstance(self.ask.source.parents[node], ast.Attribute)

    def _is_blind(self, call: ast.Call, name: str) -> bool:
        """Whether the called function surely does not read the origin by itself."""
        callee = dotted(call.func)
        if callee is None:
            return isinstance(call.func, ast.Call | ast.Attribute) and self._root(call.func) != "self"
        if callee.split(".")[0] in self.ask.source.roots or callee == name:
            return True
        last = callee.split(".")[-1]
        known = [node for node in ast.walk(self.ask.source.tree) if isinstance(node, Scope) and node.name == last]
        if any(self._reads_member(one, name.rsplit(".", maxsplit=1)[-1]) for one in known):
            return False
        if callee.startswith("self.") and name.startswith("self."):
            return bool(known) or self._is_attribute_of_file(callee)
        return bool(call.args or call.keywords)

    @staticmethod
    def _root(node: ast.expr) -> str:
        while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
            node = node.func if isinstance(node, ast.Call) else node.value
        return node.id if isinstance(node, ast.Name) else ""

    def _is_attribute_of_file(self, chain: str) -> bool:
        first = ".".join(chain.split(".")[:2])
        return any(dotted(left) == first for left, _ in self._bindings())

    @staticmethod
    def _reads_member(function: ast.AST, last: str) -> bool:
        """Whether the function names the origin, or calls further methods, which could."""
        for node in ast.walk(function):
            if (isinstance(node, ast.Name) and node.id == last) or (
                isinstance(node, ast.Attribute) and node.attr == last
            ):
                return True
            if isinstance(node, ast.Call) and (dotted(node.func) or "").split(".")[0] == "self":
                return True
        return False
