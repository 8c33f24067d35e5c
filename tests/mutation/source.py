"""One file of real code, and the gradient calls of it that a mutation can break for certain.

Made by `mutants.py`, asked by the operators. Rows are 1-based, as in `ast`.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

from mutation.names import Scope, assigns, dotted, mentions, own_nodes, stored, tensorflow_roots

_ASKS = frozenset(["gradient", "jacobian", "batch_jacobian"])
_BLOCKS = ("body", "orelse", "finalbody")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True)
class Source:
    """A file that parses, with what the edits need to know of its text."""

    name: str
    text: str
    tree: ast.Module = field(repr=False)

    @classmethod
    def read(cls, name: str, path: Path) -> Source | None:
        """The file, or None when it has another encoding or does not parse."""
        try:
            text = path.read_bytes().decode("utf-8-sig")
            return cls(name, text, ast.parse(text))
        except (UnicodeDecodeError, SyntaxError, ValueError):
            return None

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def roots(self) -> frozenset[str]:
        return tensorflow_roots(self.tree)

    @cached_property
    def tensorflow(self) -> str | None:
        """The name that TensorFlow itself is imported by."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in {"tensorflow", "tensorflow.compat.v2"} and (
                        alias.asname or alias.name == "tensorflow"
                    ):
                        return alias.asname or "tensorflow"
        return None

    @cached_property
    def _tokens(self) -> list[tokenize.TokenInfo]:
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))

    @cached_property
    def rows_in_strings(self) -> frozenset[int]:
        """The rows that begin inside a string: their leading blanks are text."""
        starts: list[int] = []
        inside = set[int]()
        for token in self._tokens:
            kind = tokenize.tok_name[token.type]
            if kind == "STRING":
                inside.update(range(token.start[0] + 1, token.end[0] + 1))
            elif kind in {"FSTRING_START", "TSTRING_START"}:
                starts.append(token.start[0])
            elif kind in {"FSTRING_END", "TSTRING_END"}:
                inside.update(range(starts.pop() + 1, token.end[0] + 1))
        return frozenset(inside)

    def end_of_logical_line(self, row: int) -> int:
        return next(t.start[0] for t in self._tokens if t.type == tokenize.NEWLINE and t.start[0] >= row)

    def indent(self, row: int) -> str:
        line = self.lines[row - 1]
        return line[: len(line) - len(line.lstrip())]

    def begins_line(self, node: ast.stmt | ast.expr) -> bool:
        before = self.lines[node.lineno - 1].encode()[: node.col_offset]
        return not before.strip()

    def offset(self, row: int, column: int) -> int:
        """Where in the text the place is; `column` counts bytes, as in `ast`."""
        before = sum(len(line) + 1 for line in self.lines[: row - 1])
        return before + len(self.lines[row - 1].encode()[:column].decode())

    def code(self, node: ast.stmt | ast.expr) -> str:
        return ast.get_source_segment(self.text, node) or ""

    def statement_of(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node itself and what it stands in, up to the module."""
        while node in self.parents:
            yield node
            node = self.parents[node]


@dataclass(frozen=True)
class Ask:
    """A gradient call whose `with` block and target stand in the same function, in an order that surely runs so."""

    source: Source
    function: Scope
    block: ast.With
    tape: str
    call: ast.Call
    target: str  # the name that the target is, or that it is a part of
    is_whole: bool
    sources: ast.expr

    @cached_property
    def qualified_name(self) -> str:
        inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        names = [node.name for node in self.source.ancestors(self.function) if isinstance(node, inner)]
        return ".".join(reversed(names))

    @cached_property
    def statement(self) -> ast.stmt:
        return self.source.statement_of(self.call)

    @cached_property
    def inside(self) -> int | None:
        """The place in the block of the statement that holds the call; None when the call comes after the block."""
        for node in self.source.ancestors(self.call):
            if self.source.parents.get(node) is self.block:
                return next((i for i, one in enumerate(self.block.body) if one is node), None)
        return None

    @cached_property
    def rows(self) -> frozenset[int]:
        """The rows of the call, of further calls for the same tape, and of the head of its block."""
        head = range(self.block.lineno, self.source.end_of_logical_line(self.block.lineno) + 1)
        calls = (self.call, *(node for node in own_nodes(self.function) if self._asks_after(node)))
        return frozenset(head) | {row for call in calls for row in range(call.lineno, (call.end_lineno or 0) + 1)}

    def _asks_after(self, node: ast.AST) -> TypeGuard[ast.Call]:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                return name == self.tape and method in _ASKS and node.lineno > self.block.lineno
        return False

    def is_tape_only(self, statement: ast.stmt) -> bool:
        """Whether the statement is `tape.watch(...)`, alone or in a loop or branch."""
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="watch"))):
                return name == self.tape
            case ast.For(body=body, orelse=[]) | ast.If(body=body, orelse=[]):
                return all(self.is_tape_only(inner) for inner in body)
        return False

    def uses_tape(self, statement: ast.stmt) -> bool:
        return mentions(statement, self.tape)

    @cached_property
    def opens_only_tapes(self) -> bool:
        return all(_opened_tape(item) is not None for item in self.block.items)


def asks(source: Source) -> list[Ask]:
    """The gradient calls of the file that mutations may break, in the order of their rows; none without TensorFlow."""
    if not source.roots:
        return []
    found: list[Ask] = []
    for function in ast.walk(source.tree):
        if isinstance(function, Scope):
            found.extend(_asks_of(source, function))
    return sorted(found, key=lambda ask: (ask.call.lineno, ask.call.col_offset))


def tape_blocks(function: Scope) -> Iterator[tuple[ast.With, str]]:
    for node in own_nodes(function):
        if isinstance(node, ast.With):
            for item in node.items:
                name = _opened_tape(item)
                if name:
                    yield node, name


def _opened_tape(item: ast.withitem) -> str | None:
    """The name of the tape that the item opens, "" when it is not bound, None when it is no tape."""
    match item:
        case ast.withitem(context_expr=ast.Call(func=made), optional_vars=bound):
            if (dotted(made) or "").split(".")[-1] == "GradientTape":
                return bound.id if isinstance(bound, ast.Name) else ""
    return None


def _asks_of(source: Source, function: Scope) -> Iterator[Ask]:
    nodes = list(own_nodes(function))
    expects_none = any(isinstance(node, ast.Attribute) and node.attr == "assertIsNone" for node in nodes)
    for block, tape in () if expects_none else tape_blocks(function):
        for node in nodes:
            ask = _ask(source, function, block, tape, node)
            if ask is not None and _is_certain(ask):
                yield ask


def _ask(source: Source, function: Scope, block: ast.With, tape: str, node: ast.AST) -> Ask | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=given, keywords=keywords):
            if name != tape or method not in _ASKS:
                return None
            named = {keyword.arg: keyword.value for keyword in keywords}
            target = given[0] if given else named.get("target")
            sources = given[1] if len(given) > 1 else named.get("sources", named.get("source"))
            if target is not None and sources is not None:
                return _ask_for(source, function, block, tape, node, target, sources)
    return None


def _ask_for(
    source: Source, function: Scope, block: ast.With, tape: str, call: ast.Call, target: ast.expr, sources: ast.expr
) -> Ask | None:
    root = target
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if not isinstance(root, ast.Name) or root.id == "self" or mentions(sources, root.id):
        return None
    return Ask(source, function, block, tape, call, root.id, root is target, sources)


def _is_certain(ask: Ask) -> bool:
    return _surely_reaches(ask) and not _changes_on_the_way(ask) and not _may_be_its_own_source(ask)


def _may_be_its_own_source(ask: Ask) -> bool:
    """Whether the target is what an unknown function (a parameter) makes of a source: it may be the source itself."""
    functions = [node for node in ask.source.ancestors(ask.function) if isinstance(node, Scope)]
    parameters = {one.arg for node in functions for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    elements = ask.sources.elts if isinstance(ask.sources, ast.List | ast.Tuple) else [ask.sources]
    sources = {dotted(element) for element in elements} - {None}
    for statement in ask.block.body:
        if isinstance(statement, ast.Assign) and assigns(statement, ask.target):
            match statement.value:
                case ast.Call(func=ast.Name(id=function), args=given) if function in parameters:
                    bare = (one.value if isinstance(one, ast.Starred) else one for one in given)
                    if any(dotted(one) in sources for one in bare):
                        return True
    return False


def _surely_reaches(ask: Ask) -> bool:
    """Whether the call stands in the block, or in the same list of statements after it or after what holds it."""
    if ask.inside is not None:
        return True
    if any(node is ask.block for node in ask.source.ancestors(ask.call)):
        return False  # in the head of the block itself
    around_call = list(ask.source.ancestors(ask.call))
    for node in ask.source.ancestors(ask.block):
        if node is ask.function:
            return False
        for siblings in _lists_of(ask.source.parents[node]):
            if node in siblings and any(one in around_call for one in siblings[siblings.index(node) + 1 :]):
                return True
    return False


def _lists_of(parent: ast.AST) -> Iterator[Sequence[ast.AST]]:
    for name in _BLOCKS:
        siblings = getattr(parent, name, None)
        if isinstance(siblings, list):
            yield siblings


def _changes_on_the_way(ask: Ask) -> bool:
    """Whether the target or the tape is bound again between the block and the call."""
    after = ask.block.end_lineno or ask.block.lineno
    around_block = set(ask.source.ancestors(ask.block))
    for node in own_nodes(ask.function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            first = {ask.target: after, ask.tape: ask.source.end_of_logical_line(ask.block.lineno)}.get(node.id)
            if first is not None and first < node.lineno <= ask.call.lineno:
                return True
    for node in ask.source.ancestors(ask.call):
        if isinstance(node, _LOOPS) and node not in around_block and stored(node) & {ask.target, ask.tape}:
            return True
    return False
