"""Truth: whether a test is decided by what is known."""

from __future__ import annotations

import ast

from gradlint.flow.assumptions import decided
from gradlint.flow.attributes import has_attribute
from gradlint.flow.enumerations import same_member
from gradlint.flow.instances import class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Class
from gradlint.flow.operators import compare_numbers, is_inside
from gradlint.flow.scopes import Frame
from gradlint.flow.store import Key
from gradlint.flow.values import How, Kind, Value, is_literal
from gradlint.flow.weight_names import is_never_in_name
from gradlint.knowledge.conventions import names_version
from gradlint.knowledge.effects import effect_of


def truth_of(it: Interpreter, node: ast.expr) -> bool | None:
    """Whether a test is surely true or false; evaluates it. Flags at module level decide nothing."""
    told = _told(it, node)
    return decided(it, node) if told is None else told


def _told(it: Interpreter, node: ast.expr) -> bool | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = truth_of(it, node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(it, node)
    if isinstance(node, ast.BoolOp):
        truths = [truth_of(it, each) for each in node.values]
        if isinstance(node.op, ast.And):
            return False if False in truths else (True if all(truths) else None)
        return True if True in truths else (False if all(each is False for each in truths) else None)
    value = it.evaluate(node)
    note_test(it, value)
    if isinstance(node, ast.Name) and _is_module_flag(it, node.id):
        return None
    known = _truth_of_value(it, value)
    if known is not None:
        return known
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
        return _hasattr(it, node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "callable":
        return _callable(it, node)
    return None


def note_test(it: Interpreter, *values: Value) -> None:
    """Remember what a branch or an assertion asks about, where that is a tensor."""
    it.tested.extend(each for each in values if each.kind in (Kind.TENSOR, Kind.SYMBOLIC))


def boolean(it: Interpreter, node: ast.BoolOp) -> Value:
    """`a or b`, `a and b`: the first operand that decides it, or any that may."""
    deciding = isinstance(node.op, ast.Or)
    kept: list[Value] = []
    for each in node.values:
        value = it.evaluate(each)
        is_flag = isinstance(each, ast.Name) and _is_module_flag(it, each.id)
        truth = None if is_flag else _truth_of_value(it, value)
        if truth is deciding or each is node.values[-1]:
            kept.append(value)
            break
        if truth is None and not (deciding and is_literal(value, None)):
            kept.append(value)
    return it.join(kept)


def _truth_of_value(it: Interpreter, value: Value) -> bool | None:
    if value.kind is Kind.LITERAL and value.how is How.FRESH:
        return bool(value.ref)
    return True if _is_always_true(it, value) else None


#: Libraries' objects that Python always takes for true.
_WITHOUT_LENGTH = ("tf.distribute.", "keras.optimizers.", "keras.losses.", "keras.metrics.")


def is_function_of_library(value: Value) -> bool:
    """Whether this is a function of a library, and no constant of it."""
    return value.kind is Kind.SYMBOL and effect_of(value.ref) is not None


def _is_always_true(it: Interpreter, value: Value) -> bool:
    """Whether Python takes this object for true: a function, a class, a layer, anything without a length of its own."""
    if value.how is How.JOIN:
        return False
    match value.kind:
        case Kind.FUNCTION | Kind.CLASS | Kind.LAYER:
            return True
        case Kind.SYMBOL:
            return is_function_of_library(value)
        case Kind.INSTANCE:
            cls: Class = value.ref.cls
            has_own = any(class_attribute(it, cls, name) is not None for name in ("__len__", "__bool__"))
            return not (cls.open_base or cls.families or has_own)
        case Kind.LIBRARY:
            return str(value.ref.symbol).startswith(_WITHOUT_LENGTH)
    return False


def _hasattr(it: Interpreter, node: ast.Call) -> bool | None:
    if len(node.args) != 2 or not isinstance(node.args[1], ast.Constant) or not isinstance(node.args[1].value, str):
        return None
    return has_attribute(it, it.evaluate(node.args[0]), node.args[1].value)


def _callable(it: Interpreter, node: ast.Call) -> bool | None:
    value = it.evaluate(node.args[0]) if len(node.args) == 1 else None
    if value is None or value.how is How.JOIN:
        return None
    if value.kind in (Kind.FUNCTION, Kind.CLASS, Kind.LAYER) or is_function_of_library(value):
        return True
    return False if value.kind in (Kind.LITERAL, Kind.CONTAINER) else None


def _is_module_flag(it: Interpreter, name: str) -> bool:
    if name in it.loop_names:
        return False
    frame: Frame | None = it.frame
    while frame is not None and not frame.is_module:
        if name in frame.names.local:
            return False
        frame = frame.parent
    return True


def is_for_type_checkers(test: ast.expr) -> bool:
    """`if TYPE_CHECKING:`, which is false when the program runs; its imports alone tell what annotations mean."""
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def _compared(it: Interpreter, node: ast.Compare) -> bool | None:
    left, right = it.evaluate(node.left), it.evaluate(node.comparators[0])
    note_test(it, left, right)
    op = node.ops[0]
    if isinstance(op, ast.Is | ast.IsNot) and is_literal(right, None):
        if left.kind is Kind.LITERAL:
            found: bool | None = left.ref is None
        elif left.how is How.JOIN or left.kind is Kind.UNKNOWN or left.how is How.GRADIENT:
            found = None
        else:
            found = False
        return found if found is None or isinstance(op, ast.Is) else not found
    same = same_member(left, right) if isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) else None
    if same is not None:
        return same == isinstance(op, ast.Is | ast.Eq)
    if isinstance(op, ast.In | ast.NotIn):
        if is_never_in_name(it, left, right, node):
            return isinstance(op, ast.NotIn)
        inside = is_inside(it, left, right)
        return inside if inside is None or isinstance(op, ast.In) else not inside
    if isinstance(node.left, ast.Name) and node.left.id == "__name__":
        return True if is_literal(right, "__main__") else None
    if any(isinstance(each, ast.Name) and _is_module_flag(it, each.id) for each in (node.left, node.comparators[0])):
        return None
    told = compare_numbers(op, left, right)
    if told is not None:
        return told
    if left.kind is Kind.LITERAL and right.kind is Kind.LITERAL and isinstance(left.ref, str | bool):
        if isinstance(op, ast.Eq):
            return bool(left.ref == right.ref)
        if isinstance(op, ast.NotEq):
            return bool(left.ref != right.ref)
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


def asks_version(test: ast.expr) -> bool:
    """Whether a test asks what is installed: its author knows what other versions do."""
    return names_version(ast.unparse(test))
