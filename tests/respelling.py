"""Other spellings of the same operations: operators as functions, functions of other namespaces, by keyword.

The edits stay on their lines, so that findings can be compared by row. What is rewritten is surely a tensor: a call of
TensorFlow, or a name that is bound to nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from gradlint.knowledge.measured import measured
from gradlint.ops.lookup import op_of
from gradlint.ops.op import Role

Edit = tuple[int, int, str, int]  # from, to, what to put there, order among those at one place
OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "add"), ast.Sub: ("-", "subtract"), ast.Mult: ("*", "multiply"), ast.Div: ("/", "divide"),
    ast.MatMult: ("@", "matmul"), ast.Pow: ("**", "pow"),
}  # fmt: skip
SIGNS = {name: sign for sign, name in OPERATORS.values()}
#: What a namespace calls some of them.
NAMES = {("keras.ops", "pow"): "power"}
MAKERS = ("Variable", "constant", "zeros", "ones")
_TENSORS = {Role.SUM, Role.DIFFERENCE, Role.PRODUCT, Role.QUOTIENT, Role.POWER, Role.MATRIX_PRODUCT, Role.NEGATIVE,
            Role.TOTAL, Role.EXTREME, Role.BOUND, Role.FUNCTION, Role.ROUNDING}  # fmt: skip


class Text:
    """A program, and where its nodes stand in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = text.splitlines(keepends=True)
        self.tensors: set[str] = set()
        self.tensors = self._names_of_tensors()

    def at(self, row: int, column: int) -> int:
        return self.starts[row - 1] + len(self.lines[row - 1].encode()[:column].decode())

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def symbol(self, node: ast.expr) -> str:
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) and node.id == "tf" else ""

    def is_tensor(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.tensors
        if isinstance(node, ast.BinOp):
            return type(node.op) in OPERATORS and (self.is_tensor(node.left) or self.is_tensor(node.right))
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub) and self.is_tensor(node.operand)
        if not isinstance(node, ast.Call):
            return False
        symbol = self.symbol(node.func)
        return symbol.rpartition(".")[2] in MAKERS or (bool(symbol) and op_of(symbol).role in _TENSORS)

    def _names_of_tensors(self) -> set[str]:
        bound: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        bound.setdefault(target.id, []).append(node.value)
                        continue
                    for each in ast.walk(target):
                        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                            bound.setdefault(each.id, []).append(None)
            elif isinstance(node, ast.arg):
                bound.setdefault(node.arg, []).append(None)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.setdefault(node.id, [])
        names = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        stored = [node.id for node in names if isinstance(node.ctx, ast.Store)]
        found = {
            name
            for name, values in bound.items()
            if values
            and stored.count(name) == len(values)
            and all(value is not None and self._is_made(value) for value in values)
        }
        return found

    def _is_made(self, value: ast.expr) -> bool:
        symbol = self.symbol(value.func) if isinstance(value, ast.Call) else ""
        return symbol.rpartition(".")[2] in MAKERS or (bool(symbol) and op_of(symbol).role in _TENSORS)


Respelling = Callable[[Text], Iterator[Edit]]


def apply(program: Text, edits: list[Edit]) -> str:
    """The text with these edits, which do not overlap."""
    made, at = [], 0
    for start, end, text, _ in sorted(edits, key=lambda each: (each[0], each[1], each[3])):
        made += [program.text[at:start], text]
        at = end
    return "".join([*made, program.text[at:]])


def _operators(space: str) -> Respelling:
    def edits(program: Text) -> Iterator[Edit]:
        for node in ast.walk(program.tree):
            if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and program.is_tensor(node):
                sign, name = OPERATORS[type(node.op)]
                start, end = program.span(node)
                left, right = program.span(node.left)[1], program.span(node.right)[0]
                at = _sign_between(program.text[left:right], sign)
                if at is None or "f'" in program.text[start:end]:
                    continue
                yield start, start, f"{space}.{NAMES.get((space, name), name)}(", -end
                yield left + at, left + at + len(sign), ",", 0
                yield end, end, ")", start
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and program.is_tensor(node.operand):
                start, end = program.span(node)
                yield start, start + 1, f"{space}.negative(", -end
                yield end, end, ")", start

    return edits


def _sign_between(text: str, sign: str) -> int | None:
    """Where the operator stands between its operands; None where a comment hides it."""
    return None if "#" in text else text.find(sign)


def _functions(space: str) -> Respelling:
    """`tf.f` as a function of the same row in another namespace."""

    def edits(program: Text) -> Iterator[Edit]:
        for node in ast.walk(program.tree):
            if not isinstance(node, ast.Call) or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
                continue
            symbol = program.symbol(node.func)
            row = op_of(symbol) if symbol else None
            if row is None or row.role not in _TENSORS | {Role.COMPARISON, Role.CHOICE, Role.CLIP, Role.RESHAPE}:
                continue
            if not any(program.is_tensor(each) for each in node.args):
                continue
            others = [f"{space}.{name}" for name in row.spelled if "." not in name]
            other = next((each for each in others if measured(each) is not None and op_of(each) is row), None)
            if other is not None and other != symbol:
                yield (*program.span(node.func), other, 0)

    return edits


def _as_operators(program: Text) -> Iterator[Edit]:
    """`tf.add(a, b)` as `(a + b)`, `tf.negative(a)` as `(-a)`."""
    for node in ast.walk(program.tree):
        if not isinstance(node, ast.Call) or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            continue
        row = op_of(program.symbol(node.func))
        sign = SIGNS.get(row.name)
        start, end = program.span(node.func)
        if sign is None or len(node.args) != 2 or not any(map(program.is_tensor, node.args)):
            continue
        left, right = program.span(node.args[0]), program.span(node.args[1])
        between = program.text[left[1] : right[0]]
        if "#" in between or ")" in between or "(" in between or "(" in program.text[end + 1 : left[0]]:
            continue
        comma = left[1] + between.index(",")
        yield start, end, "", 0
        yield left[0], left[0], "(", -left[1]
        yield left[1], left[1], ")", left[0]
        yield comma, comma + 1, f" {sign}", 0
        yield right[0], right[0], "(", -right[1]
        yield right[1], right[1], ")", right[0]


def _by_keyword(program: Text) -> Iterator[Edit]:
    """Arguments of operations by their names."""
    for node in ast.walk(program.tree):
        if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
            continue
        symbol = program.symbol(node.func)
        known = measured(symbol) if symbol and op_of(symbol).role in _TENSORS else None
        if known is None or len(known.parameters) < len(node.args):
            continue
        begins = [_begin(program, argument, program.span(node.func)[1]) for argument in node.args]
        if None not in begins:
            for at, name in zip(begins, known.parameters, strict=False):
                yield at or 0, at or 0, f"{name}=", -(10**9)


def _begin(program: Text, argument: ast.expr, after: int) -> int | None:
    """Where an argument begins, parentheses around it included; None where that is hard to tell."""
    at, _ = program.span(argument)
    if isinstance(argument, ast.GeneratorExp | ast.NamedExpr):
        return None
    while program.text[at - 1] == "(" and at - 1 > after:
        at -= 1
    before = len(program.text[:at].rstrip()) - 1
    return at if program.text[before] == "," or before == after else None


def _copies(program: Text) -> Iterator[Edit]:
    """`tf.identity(x)` as `tf.ensure_shape(x, None)`."""
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and program.symbol(node.func) == "tf.identity" and not node.keywords:
            _, end = program.span(node)
            yield (*program.span(node.func), "tf.ensure_shape", 0)
            yield end - 1, end - 1, ", None", 10**9


def operators_as_functions(text: str) -> str:
    """`a + b` as `tf.add(a, b)`, and functions of `tf` as those of `tf.math`."""
    text = _run(text, _operators("tf"))
    return _run(_run(text, _functions("tf.math")), _copies)


def operators_of_math(text: str) -> str:
    """`a + b` as `tf.math.add(a, b)`, arguments by name."""
    return _run(_run(text, _operators("tf.math")), _by_keyword)


def functions_of_keras(text: str) -> str:
    """Operators and functions as those of `keras.ops`."""
    made = _run(_run(text, _functions("keras.ops")), _operators("keras.ops"))
    if made == text:
        return text
    return made.replace("import tensorflow as tf\n", "import tensorflow as tf; import keras\n", 1)


def functions_as_operators(text: str) -> str:
    """`tf.add(a, b)` as `a + b`."""
    return _run(text, _as_operators)


def _run(text: str, respelling: Respelling) -> str:
    program = Text(text)
    made = apply(program, list(respelling(program)))
    ast.parse(made)
    return made
