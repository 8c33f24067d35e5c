"""Expressions: one handler per node type, chosen by a table."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from gradlint.flow import attributes, calls
from gradlint.flow.interpreter import RECORDING, Interpreter
from gradlint.flow.objects import Container, Function, Items
from gradlint.flow.scopes import Frame, comprehension_names
from gradlint.flow.store import Delta, Key
from gradlint.flow.symbols import canonical
from gradlint.flow.values import DType, How, Kind, Value, alternatives, is_literal
from gradlint.verdicts import Cause

Handler = Callable[[Interpreter, ast.AST], Value]

_BUILTINS = frozenset(dir(builtins))
_TENSORS = (Kind.TENSOR, Kind.VARIABLE, Kind.SYMBOLIC)
MOST_COMPREHENDED = 8


def evaluate(it: Interpreter, node: ast.AST) -> Value:
    """The value of an expression now.

    Raises:
        OutOfFuel: the entry has used its evaluations.
    """
    it.burn()
    handler = TABLE.get(type(node))
    if handler is None:
        return it.plain(node)
    return handler(it, node)


# -- names -------------------------------------------------------------------------------------


def read_name(it: Interpreter, name: str, node: ast.AST) -> Value:
    """The value bound to a name, by Python's scoping rules."""
    frame: Frame | None = it.frame
    first = True
    while frame is not None:
        if frame.is_class and not first:
            frame = frame.parent
            continue
        if name in frame.names.global_:
            frame = it.module
        if frame is it.module:
            return _read_global(it, name, node)
        if name in frame.names.local:
            value = it.store.get((frame.id, name))
            if value is not None:
                return value
            if not frame.is_class:
                return it.unknown_global(f"{name}@{frame.id}", f"`{name}` is bound on no way that was followed")
        first = False
        frame = frame.parent
    return _read_global(it, name, node)


def _read_global(it: Interpreter, name: str, node: ast.AST) -> Value:
    value = it.store.get((it.module.id, name))
    if value is not None:
        if it.open_code and (name in it.relevance.global_statements or attributes.is_empty(it, value)):
            return it.join([value, it.state_unknown(name, f"`{name}` may be set or filled from elsewhere", node)])
        if (
            it.open_code
            and name in it.relevance.rebound_globals
            and value.kind not in (Kind.SYMBOL, Kind.FUNCTION, Kind.CLASS)
        ):
            return it.unknown_global(name, f"`{name}` is bound more than once at module level")
        return value
    if name == "__name__":
        return it.fresh(Kind.LITERAL, node, ref="__main__")
    if name in _BUILTINS:
        return it.fresh(Kind.SYMBOL, node, ref=f"builtins.{name}")
    for module in reversed(it.star_imports):
        full = canonical(module)
        if full.split(".")[0] in ("tf", "keras", "np"):
            return it.fresh(Kind.SYMBOL, node, ref=canonical(f"{full}.{name}"))
    return it.unknown_global(name, f"`{name}` is not bound in this file")


def _name(it: Interpreter, node: ast.Name) -> Value:
    return read_name(it, node.id, node)


def _constant(it: Interpreter, node: ast.Constant) -> Value:
    return it.fresh(Kind.LITERAL, node, ref=node.value)


# -- operators ---------------------------------------------------------------------------------

_DUNDER = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.MatMult: "__matmul__",
    ast.Pow: "__pow__",
}
_SIGN = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "**",
    ast.Mod: "%",
    ast.FloorDiv: "//",
}


def _binary(it: Interpreter, node: ast.BinOp) -> Value:
    # A left spine (a + b + c ...) is walked without recursion: sums of thousands of terms exist.
    spine: list[ast.BinOp] = []
    each: ast.expr = node
    while isinstance(each, ast.BinOp):
        spine.append(each)
        each = each.left
    value = evaluate(it, each)
    for operation in reversed(spine):
        it.burn()
        value = binary(it, operation.op, value, evaluate(it, operation.right), operation)
    return value


def binary(it: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    """The result of a binary operator."""
    kinds = (left.kind, right.kind)
    if left.kind is Kind.LITERAL and right.kind is Kind.LITERAL:
        return _fold(it, op, left, right, node)
    if Kind.INSTANCE in kinds:
        return _overloaded(it, op, left, right, node)
    if isinstance(op, ast.Add | ast.BitOr):
        parts = [_as_sequence(it, value) for value in (left, right)]
        if all(part is not None for part in parts) and (isinstance(op, ast.Add) or Kind.CONTAINER in kinds):
            left, right = (part for part in parts if part is not None)
            return _concatenate(it, left, right, node, merge=isinstance(op, ast.BitOr))
    if isinstance(op, ast.Add) and (_is_sequence(left) or _is_sequence(right)):
        if not any(kind in _TENSORS for kind in kinds):
            return _concatenate(it, left, right, node)
    if isinstance(op, ast.Mult) and Kind.CONTAINER in kinds and not any(kind in _TENSORS for kind in kinds):
        owner = left if left.kind is Kind.CONTAINER else right
        if owner.ref.type in ("list", "tuple"):
            return it.container(owner.ref.type, Items(it.items(owner).elements, None, exact=False), node)
    sign = _SIGN.get(type(op), "?")
    if all(kind in (Kind.PLAIN, Kind.LITERAL, Kind.SYMBOL) for kind in kinds):
        return it.operation(node, (left, right), label=sign, kind=Kind.PLAIN)
    if isinstance(op, ast.FloorDiv):
        return it.operation(
            node, (), label=sign, dead=((left, Cause.NON_DIFFERENTIABLE), (right, Cause.NON_DIFFERENTIABLE))
        )
    if isinstance(op, ast.Add) and left.is_opaque and right.is_opaque and "call" not in (left.label, right.label):
        # Two unknowns may as well be lists of variables.
        value = it.operation(node, (left, right), label="+", kind=Kind.UNKNOWN)
        return value
    kind = Kind.SYMBOLIC if Kind.SYMBOLIC in kinds else Kind.TENSOR
    ref = None
    if kind is Kind.SYMBOLIC:
        from gradlint.flow.keras_objects import symbolic_operation

        ref = symbolic_operation(it, (left, right))
    return it.operation(node, (left, right), label=sign, kind=kind, ref=ref)


def _is_sequence(value: Value) -> bool:
    return value.kind in (Kind.CONTAINER, Kind.VARIABLES)


def _fold(it: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    a, b = left.ref, right.ref
    if isinstance(a, int | float) and isinstance(b, int | float) and abs(a) < 1e9 and abs(b) < 1e9:
        match op:
            case ast.Add():
                return it.fresh(Kind.LITERAL, node, ref=a + b)
            case ast.Sub():
                return it.fresh(Kind.LITERAL, node, ref=a - b)
            case ast.Mult():
                return it.fresh(Kind.LITERAL, node, ref=a * b)
    if isinstance(op, ast.Add) and isinstance(a, str) and isinstance(b, str) and len(a) + len(b) < 200:
        return it.fresh(Kind.LITERAL, node, ref=a + b)
    return it.plain(node)


def _as_sequence(it: Interpreter, value: Value) -> Value | None:
    """A container or set of variables; of several possible ones, one that holds the elements of all."""
    if _is_sequence(value):
        return value
    if value.how is not How.JOIN or value.kind is not Kind.UNKNOWN:
        return None
    ways = alternatives(value, 8)
    if not ways or not all(_is_sequence(way) for way in ways):
        return None
    elements = [each for way in ways for each in (it.items(way).elements if way.kind is Kind.CONTAINER else (way,))]
    return it.list_of(elements, value.node, exact=False)


def _concatenate(it: Interpreter, left: Value, right: Value, node: ast.AST, *, merge: bool = False) -> Value:
    if merge and left.kind is Kind.CONTAINER and right.kind is Kind.CONTAINER:
        a, b = it.items(left), it.items(right)
        if a.exact and b.exact and a.keys is not None and b.keys is not None:
            merged = {**dict(zip(a.keys, a.elements, strict=True)), **dict(zip(b.keys, b.elements, strict=True))}
            return it.container("dict", Items(tuple(merged.values()), tuple(merged)), node)
        return it.container(left.ref.type, Items((*a.elements, *b.elements), None, exact=False), node)
    elements: list[Value] = []
    exact = True
    for value in (left, right):
        if value.kind is Kind.CONTAINER:
            items = it.items(value)
            elements.extend(items.elements)
            exact = exact and items.exact
        else:
            elements.append(value)
            exact = False
    return it.list_of(elements, node, exact=exact)


def _overloaded(it: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    name = _DUNDER.get(type(op))
    for receiver, other, dunder in ((left, right, name), (right, left, name and "__r" + name[2:])):
        if receiver.kind is Kind.INSTANCE and dunder is not None:
            method = attributes.class_attribute(it, receiver.ref.cls, dunder)
            if method is not None:
                bound = attributes.bind(it, method, receiver, node)
                return calls.call(it, bound, calls.Arguments((other,)), node)
    return it.opaque_call(node, (left, right), "an operator of a class that does not define it")


def _unary(it: Interpreter, node: ast.UnaryOp) -> Value:
    depth: list[ast.UnaryOp] = []
    each: ast.expr = node
    while isinstance(each, ast.UnaryOp):
        depth.append(each)
        each = each.operand
    value = evaluate(it, each)
    for operation in reversed(depth):
        value = _unary_one(it, operation, value)
    return value


def _unary_one(it: Interpreter, node: ast.UnaryOp, value: Value) -> Value:
    if isinstance(node.op, ast.Not):
        if value.kind is Kind.LITERAL and value.how is How.FRESH:
            return it.fresh(Kind.LITERAL, node, ref=not value.ref)
        return it.plain(node)
    if value.kind is Kind.LITERAL:
        if isinstance(node.op, ast.USub) and isinstance(value.ref, int | float):
            return it.fresh(Kind.LITERAL, node, ref=-value.ref)
        return it.plain(node)
    if value.kind is Kind.PLAIN:
        return it.operation(node, (value,), label="-", kind=Kind.PLAIN)
    if isinstance(node.op, ast.Invert):
        return it.operation(node, (), label="~", dead=((value, Cause.NON_DIFFERENTIABLE),), dtype=DType.BOOL)
    kind = Kind.SYMBOLIC if value.kind is Kind.SYMBOLIC else Kind.TENSOR
    ref = None
    if kind is Kind.SYMBOLIC:
        from gradlint.flow.keras_objects import symbolic_operation

        ref = symbolic_operation(it, (value,))
    return it.operation(node, (value,), label="-", kind=kind, ref=ref)


def _boolean(it: Interpreter, node: ast.BoolOp) -> Value:
    values = [evaluate(it, each) for each in node.values]
    if isinstance(node.op, ast.Or):
        kept = [value for value in values[:-1] if not is_literal(value, None)] + values[-1:]
        return it.join(kept)
    return it.join(values)


def _compare(it: Interpreter, node: ast.Compare) -> Value:
    values = [evaluate(it, node.left), *(evaluate(it, each) for each in node.comparators)]
    if len(node.ops) == 1:
        op = node.ops[0]
        if isinstance(op, ast.In | ast.NotIn):
            inside = _is_inside(it, values[0], values[1])
            if inside is not None:
                return it.fresh(Kind.LITERAL, node, ref=inside if isinstance(op, ast.In) else not inside)
        elif isinstance(op, ast.Eq | ast.NotEq) and all(
            value.kind is Kind.LITERAL and value.how is How.FRESH and isinstance(value.ref, str | bool | int)
            for value in values
        ):
            equal = bool(values[0].ref == values[1].ref)
            return it.fresh(Kind.LITERAL, node, ref=equal if isinstance(op, ast.Eq) else not equal)
    identity = all(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)
    if identity or all(value.kind in (Kind.LITERAL, Kind.PLAIN, Kind.SYMBOL) and not value.dead for value in values):
        return it.plain(node)
    dead = tuple((value, Cause.NON_DIFFERENTIABLE) for value in values)
    kind = Kind.PLAIN if all(value.kind in (Kind.PLAIN, Kind.LITERAL) for value in values) else Kind.TENSOR
    return it.operation(node, (), label="comparison", dead=dead, kind=kind, dtype=DType.BOOL)


# -- truth -------------------------------------------------------------------------------------


def truth(it: Interpreter, node: ast.expr) -> bool | None:
    """Whether a test is surely true or false; evaluates it. Flags at module level decide nothing."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = truth(it, node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(it, node)
    if isinstance(node, ast.BoolOp):
        truths = [truth(it, each) for each in node.values]
        if isinstance(node.op, ast.And):
            return False if False in truths else (True if all(truths) else None)
        return True if True in truths else (False if all(each is False for each in truths) else None)
    value = evaluate(it, node)
    if isinstance(node, ast.Name) and _is_module_flag(it, node.id):
        return None
    if value.kind is Kind.LITERAL and value.how is How.FRESH:
        return bool(value.ref)
    if isinstance(node, ast.Call) and is_isinstance(it, node):
        return _isinstance(it, node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
        return _hasattr(it, node)
    return None


def _hasattr(it: Interpreter, node: ast.Call) -> bool | None:
    if len(node.args) != 2 or not isinstance(node.args[1], ast.Constant) or not isinstance(node.args[1].value, str):
        return None
    return attributes.has_attribute(it, evaluate(it, node.args[0]), node.args[1].value)


def _is_module_flag(it: Interpreter, name: str) -> bool:
    frame: Frame | None = it.frame
    while frame is not None and frame is not it.module:
        if name in frame.names.local:
            return False
        frame = frame.parent
    return True


def _compared(it: Interpreter, node: ast.Compare) -> bool | None:
    left, right = evaluate(it, node.left), evaluate(it, node.comparators[0])
    op = node.ops[0]
    if isinstance(op, ast.Is | ast.IsNot) and is_literal(right, None):
        if left.kind is Kind.LITERAL:
            found: bool | None = left.ref is None
        elif left.how is How.JOIN or left.kind is Kind.UNKNOWN or left.how is How.GRADIENT:
            found = None
        else:
            found = False
        return found if found is None or isinstance(op, ast.Is) else not found
    if isinstance(op, ast.In | ast.NotIn):
        inside = _is_inside(it, left, right)
        return inside if inside is None or isinstance(op, ast.In) else not inside
    if isinstance(node.left, ast.Name) and node.left.id == "__name__":
        return True if is_literal(right, "__main__") else None
    if any(isinstance(each, ast.Name) and _is_module_flag(it, each.id) for each in (node.left, node.comparators[0])):
        return None
    if left.kind is Kind.LITERAL and right.kind is Kind.LITERAL and isinstance(left.ref, str | bool):
        if isinstance(op, ast.Eq):
            return bool(left.ref == right.ref)
        if isinstance(op, ast.NotEq):
            return bool(left.ref != right.ref)
    return None


def _is_inside(it: Interpreter, left: Value, right: Value) -> bool | None:
    """Whether a constant is surely a key or element of a container whose contents are known."""
    if left.kind is not Kind.LITERAL or left.how is not How.FRESH or right.kind is not Kind.CONTAINER:
        return None
    items = it.items(right)
    if not items.exact:
        return None
    if right.ref.type == "dict":
        if items.keys is None:
            return None if items.elements else False
        return left.ref in items.keys
    if all(each.kind is Kind.LITERAL for each in items.elements):
        return any(type(each.ref) is type(left.ref) and each.ref == left.ref for each in items.elements)
    return None


def is_isinstance(it: Interpreter, node: ast.Call) -> bool:
    """Whether the call is of the builtin `isinstance`."""
    return isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2


def _isinstance(it: Interpreter, node: ast.Call) -> bool | None:
    value, cls = evaluate(it, node.args[0]), evaluate(it, node.args[1])
    names = [each.ref for each in it.leaves(cls) if each.kind is Kind.SYMBOL]
    sequences = [name for name in names if name in ("builtins.tuple", "builtins.list", "builtins.dict")]
    if not names or len(sequences) != len(names) or value.how is How.JOIN:
        return None
    if value.kind in (Kind.TENSOR, Kind.VARIABLE, Kind.LAYER, Kind.INSTANCE, Kind.FUNCTION):
        return False
    if value.kind is Kind.CONTAINER and isinstance(value.ref, Container):
        return f"builtins.{value.ref.type}" in sequences
    return None


def narrowings(it: Interpreter, test: ast.expr) -> list[tuple[Key, Value]]:
    """Cells that are known better inside the true arm of a test: a name that is not None."""
    if (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.IsNot)
        and isinstance(test.left, ast.Name)
        and test.left.id in it.frame.names.local
    ):
        key = (it.frame.id, test.left.id)
        value = it.store.get(key)
        if value is not None and value.how is How.JOIN and value.label != "loop":
            rest = [each for each in value.inputs if not is_literal(each, None)]
            if rest and len(rest) < len(value.inputs):
                return [(key, it.join(rest))]
    return []


# -- conditional expressions, calls, access ----------------------------------------------------


def in_arms(it: Interpreter, arms: list[Callable[[], Value]]) -> Value:
    """Evaluate alternatives from the same state and join values and cells."""
    deltas: list[Delta] = []
    values: list[Value] = []
    doubtful = it.doubt
    for arm in arms:
        if it.peeled:
            it.doubt = doubtful + 1
        it.store.begin()
        values.append(arm())
        deltas.append(it.store.end())
    it.doubt = doubtful
    it.merge(deltas)
    return it.join(values)


def _conditional(it: Interpreter, node: ast.IfExp) -> Value:
    known = truth(it, node.test)
    if known is not None:
        return evaluate(it, node.body if known else node.orelse)
    return in_arms(it, [lambda: evaluate(it, node.body), lambda: evaluate(it, node.orelse)])


def arguments_of(it: Interpreter, node: ast.Call) -> calls.Arguments:
    """The evaluated arguments of a call."""
    positional: list[Value] = []
    more: Value | None = None
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = evaluate(it, argument.value)
            known = attributes.known_elements(it, value)
            if known is not None and more is None:
                positional.extend(known)
            else:
                more = value if more is None else it.join([more, value])
        else:
            value = evaluate(it, argument)
            if more is None:
                positional.append(value)
            else:
                more = it.join([more, value])
    keywords: dict[str, Value] = {}
    more_keywords: Value | None = None
    for keyword in node.keywords:
        value = evaluate(it, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            continue
        items = it.items(value) if value.kind is Kind.CONTAINER else None
        if items is not None and items.exact and items.keys is not None:
            keywords.update({str(key): each for key, each in zip(items.keys, items.elements, strict=True)})
        elif not is_literal(value, None):
            more_keywords = value
    return calls.Arguments(tuple(positional), keywords, more, more_keywords)


def _call(it: Interpreter, node: ast.Call) -> Value:
    function = evaluate(it, node.func)
    return calls.call(it, function, arguments_of(it, node), node)


def _attribute(it: Interpreter, node: ast.Attribute) -> Value:
    names: list[ast.Attribute] = []
    each: ast.expr = node
    while isinstance(each, ast.Attribute):
        names.append(each)
        each = each.value
    value = evaluate(it, each)
    for access in reversed(names):
        value = attributes.get_attribute(it, value, access.attr, access)
    return value


def _subscript(it: Interpreter, node: ast.Subscript) -> Value:
    return attributes.get_item(it, evaluate(it, node.value), evaluate(it, node.slice), node)


def _slice(it: Interpreter, node: ast.Slice) -> Value:
    parts = [None if each is None else evaluate(it, each) for each in (node.lower, node.upper, node.step)]
    if all(each is None or each.kind is Kind.LITERAL for each in parts):
        bounds = [None if each is None else each.ref for each in parts]
        if all(bound is None or type(bound) is int for bound in bounds):
            return it.fresh(Kind.LITERAL, node, ref=slice(*bounds))
    return it.plain(node)


# -- displays, comprehensions, lambdas ---------------------------------------------------------


def _display(it: Interpreter, node: ast.List | ast.Tuple | ast.Set) -> Value:
    type_ = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}[type(node)]
    if len(node.elts) > 64 and all(isinstance(each, ast.Constant) for each in node.elts):
        return it.plain(node)
    elements: list[Value] = []
    exact = True
    for each in node.elts:
        if isinstance(each, ast.Starred):
            value = evaluate(it, each.value)
            known = attributes.known_elements(it, value)
            if known is None:
                exact = False
                elements.extend(it.items(value).elements if value.kind is Kind.CONTAINER else (value,))
            else:
                elements.extend(known)
        else:
            elements.append(evaluate(it, each))
    return it.container(type_, Items(tuple(elements), None, exact), node)


def _dict(it: Interpreter, node: ast.Dict) -> Value:
    elements: list[Value] = []
    keys: list[object] = []
    exact = True
    if len(node.keys) > 64 and all(isinstance(each, ast.Constant) for each in node.values):
        return it.plain(node)
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(it, value_node)
        if key_node is None:
            items = it.items(value) if value.kind is Kind.CONTAINER else None
            if items is not None and items.exact and items.keys is not None:
                keys.extend(items.keys)
                elements.extend(items.elements)
            else:
                exact = False
                elements.extend(items.elements if items is not None else (value,))
            continue
        key = evaluate(it, key_node)
        elements.append(value)
        if key.kind is Kind.LITERAL and isinstance(key.ref, str | int | bool | float):
            keys.append(key.ref)
        else:
            exact = False
    return it.container("dict", Items(tuple(elements), tuple(keys) if exact else None, exact), node)


def _comprehend(
    it: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, elements: list[ast.expr]
) -> tuple[list[list[Value]], bool]:
    """The evaluated element expressions, once per known element, and whether that is exact."""
    generators = node.generators
    frame = Frame(
        it.new_id(),
        it.frame,
        it.frame.caller,
        it.frame.call_node,
        it.frame.function,
        comprehension_names([each.target for each in generators]),
        is_comprehension=True,
        cls=it.frame.cls,
        depth=it.frame.depth,
        name=it.frame.name,
        graph=it.frame.graph,
    )
    first = evaluate(it, generators[0].iter)
    outer = it.frame
    it.frame = frame
    try:
        from gradlint.flow.statements import assign

        known = attributes.known_elements(it, first)
        exact = known is not None and len(generators) == 1 and not generators[0].ifs and len(known) <= MOST_COMPREHENDED
        rows: list[list[Value]] = []
        for element in known if exact and known is not None else [None]:
            assign(it, generators[0].target, element if element is not None else attributes.element_of(it, first, node))
            for test in generators[0].ifs:
                evaluate(it, test)
            for generator in generators[1:]:
                inner = evaluate(it, generator.iter)
                assign(it, generator.target, attributes.element_of(it, inner, node))
                for test in generator.ifs:
                    evaluate(it, test)
            rows.append([evaluate(it, each) for each in elements])
    finally:
        it.frame = outer
    return rows, exact


def _list_comprehension(it: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    rows, exact = _comprehend(it, node, [node.elt])
    type_ = {ast.SetComp: "set", ast.GeneratorExp: "generator"}.get(type(node), "list")
    return it.container(type_, Items(tuple(row[0] for row in rows), None, exact), node)


def _dict_comprehension(it: Interpreter, node: ast.DictComp) -> Value:
    rows, exact = _comprehend(it, node, [node.key, node.value])
    keys = tuple(row[0].ref for row in rows if row[0].kind is Kind.LITERAL and isinstance(row[0].ref, str | int))
    exact = exact and len(keys) == len(rows)
    return it.container("dict", Items(tuple(row[1] for row in rows), keys if exact else None, exact), node)


def _lambda(it: Interpreter, node: ast.Lambda) -> Value:
    from gradlint.flow.statements import plain_function

    return plain_function(it, node)


def _string(it: Interpreter, node: ast.JoinedStr) -> Value:
    for each in node.values:
        if isinstance(each, ast.FormattedValue):
            evaluate(it, each.value)
    return it.plain(node)


def _starred(it: Interpreter, node: ast.Starred) -> Value:
    return evaluate(it, node.value)


def _await(it: Interpreter, node: ast.Await) -> Value:
    return evaluate(it, node.value)


def _walrus(it: Interpreter, node: ast.NamedExpr) -> Value:
    from gradlint.flow.statements import bind_name

    value = evaluate(it, node.value)
    bind_name(it, node.target.id, value)
    return value


def _yield(it: Interpreter, node: ast.Yield | ast.YieldFrom) -> Value:
    value = it.fresh(Kind.LITERAL, node, ref=None) if node.value is None else evaluate(it, node.value)
    if isinstance(node, ast.YieldFrom):
        value = attributes.element_of(it, value, node)
    if it.calls:
        exits = it.calls[-1]
        exits.yields.append(value)
        if exits.on_yield is not None:
            exits.on_yield(value)
    return it.parameter("<sent>", node)


TABLE: dict[type[ast.AST], Handler] = {
    ast.Name: _name,  # type: ignore[dict-item]
    ast.Constant: _constant,  # type: ignore[dict-item]
    ast.Attribute: _attribute,  # type: ignore[dict-item]
    ast.Call: _call,  # type: ignore[dict-item]
    ast.BinOp: _binary,  # type: ignore[dict-item]
    ast.UnaryOp: _unary,  # type: ignore[dict-item]
    ast.BoolOp: _boolean,  # type: ignore[dict-item]
    ast.Compare: _compare,  # type: ignore[dict-item]
    ast.IfExp: _conditional,  # type: ignore[dict-item]
    ast.Subscript: _subscript,  # type: ignore[dict-item]
    ast.Slice: _slice,  # type: ignore[dict-item]
    ast.List: _display,  # type: ignore[dict-item]
    ast.Tuple: _display,  # type: ignore[dict-item]
    ast.Set: _display,  # type: ignore[dict-item]
    ast.Dict: _dict,  # type: ignore[dict-item]
    ast.ListComp: _list_comprehension,  # type: ignore[dict-item]
    ast.SetComp: _list_comprehension,  # type: ignore[dict-item]
    ast.GeneratorExp: _list_comprehension,  # type: ignore[dict-item]
    ast.DictComp: _dict_comprehension,  # type: ignore[dict-item]
    ast.Lambda: _lambda,  # type: ignore[dict-item]
    ast.JoinedStr: _string,  # type: ignore[dict-item]
    ast.Starred: _starred,  # type: ignore[dict-item]
    ast.Await: _await,  # type: ignore[dict-item]
    ast.NamedExpr: _walrus,  # type: ignore[dict-item]
    ast.Yield: _yield,  # type: ignore[dict-item]
    ast.YieldFrom: _yield,  # type: ignore[dict-item]
}

__all__ = ["RECORDING", "Function", "evaluate", "in_arms", "narrowings", "read_name", "truth"]
