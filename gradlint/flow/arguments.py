"""Arguments of a call, evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.values import Kind, Value


@dataclass(frozen=True, slots=True)
class Arguments:
    """Evaluated arguments. `more` and `more_keywords`: what unknown `*` and `**` may add."""

    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    more: Value | None = None
    more_keywords: Value | None = None

    def get(self, position: int | None, name: str) -> Value | None:
        """The argument at a position or with a name."""
        if name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None

    def first(self) -> Value | None:
        """What is given first, by place or by name."""
        if self.positional:
            return self.positional[0]
        return next(iter(self.keywords.values()), None)

    def every(self) -> list[Value]:
        """All argument values."""
        extra = [each for each in (self.more, self.more_keywords) if each is not None]
        return [*self.positional, *self.keywords.values(), *extra]


def symbol_of(value: Value) -> str:
    """The canonical name when the value is a library symbol, else an empty string."""
    return value.ref if value.kind is Kind.SYMBOL else ""


def name_called(node: ast.AST) -> str:
    """The last name of the callee, as written."""
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


Handler = Callable[[Interpreter, "Arguments", ast.AST], Value]
