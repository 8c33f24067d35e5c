"""Singularities: logarithms, roots, powers and arcs of numbers at which their derivative is infinite or undefined.

A claim needs to know that ordinary inputs come there (`numbers.py`); what could be anything is left alone.
"""

from __future__ import annotations

import ast
from math import inf

from gradlint.flow.arguments import Arguments
from gradlint.flow.carried import bounded, carried, is_replaced_by_number
from gradlint.flow.initial_numbers import initial_numbers
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.numbers import numbers_of
from gradlint.flow.objects import Variable
from gradlint.flow.outputs import output_of, starts_at_zero
from gradlint.flow.scopes import Frame
from gradlint.flow.values import Fill, How, Kind, Value, all_behind, alternatives, carries_gradient, lineage
from gradlint.flow.wording import code_of, code_of_node
from gradlint.flow.zero_events import ArcAtBorder, LogOfZero, PowerOfNegative, RootAtZero
from gradlint.knowledge.activations import Numbers, Zero
from gradlint.ops import table as ops
from gradlint.ops.op import Op, Role

_LOGARITHMS = frozenset({ops.LOG, ops.LOG2, ops.LOG10})
_ROOTS = frozenset({ops.SQRT, ops.RSQRT})
_ARCS = frozenset({ops.ASIN, ops.ACOS, ops.ATANH, ops.ACOSH})
_DEEPEST, _MOST_BEHIND = 12, 60
#: exp(-87) is the least float32; a softmax sees the difference of two logits.
_UNDERFLOWS_AT = 40.0


def matters(it: Interpreter, made: Value) -> bool:
    """Whether a gradient may be asked through this: a tape records it, a model holds it, or it is code for training."""
    if it.expected or not (made.possible or made.kind is Kind.SYMBOLIC or it.open_code):
        return False
    frames = it.frame.callers()
    if it.open_code and not made.possible and not any(_is_for_training(it, each) for each in frames):
        return False
    return not any(map(_has_own_gradient, frames))


def _is_for_training(it: Interpreter, frame: Frame) -> bool:
    """Whether Keras or a training loop calls this, by its name and parameters: a layer, a model, a loss."""
    function = frame.function
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    if function.name in ("call", "__call__", "compute_loss", "train_step"):
        return function.owner is not None and bool(function.owner.families)
    if function.owner is not None and any(each.startswith("keras.metrics.") for each in function.owner.families):
        return False
    arguments = {each.arg for each in function.node.args.args}
    if "loss" in function.name.lower():
        return True
    return "y_pred" in arguments and not _is_metric(it, function.name)


def _is_metric(it: Interpreter, name: str) -> bool:
    """Whether this function is given to `compile` among the metrics, and not as a loss."""
    given = {"metrics": False, "loss": False}
    for node in it.nodes("metrics"):
        if isinstance(node, ast.keyword) and node.arg in given:
            given[node.arg] |= any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node.value))
    return given["metrics"] and not given["loss"]


def _has_own_gradient(frame: Frame) -> bool:
    """Whether this is a function whose gradient is written by hand."""
    node = frame.function.node if frame.function is not None else None
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any("custom_gradient" in ast.unparse(each) for each in decorators)


def judge_function(it: Interpreter, arguments: Arguments, made: Value, node: ast.AST) -> None:
    """A function of TensorFlow or Keras was called."""
    op = made.op
    name = made.label.rpartition(".")[2]
    first = arguments.first()
    if first is None or not matters(it, made):
        return
    if op in _LOGARITHMS:
        _judge_log(it, first, made, node)
    elif op in _ROOTS:
        _judge_root(it, name, first, made, node)
    elif op is ops.NORM:
        _judge_norm(it, name, first, arguments, made, node)
    elif op is ops.STD:
        _judge_spread(it, name, first, arguments, node)
    elif op in _ARCS:
        _judge_arc(it, op, name, first, node)


# --- logarithms ----------------------------------------------------------------------------------------------------

_INSTEAD = {
    "softmax": "`tf.nn.log_softmax` of the logits, or a crossentropy with `from_logits=True`",
    "sigmoid": "`tf.math.log_sigmoid` of the logits, or a crossentropy with `from_logits=True`",
}


def _judge_log(it: Interpreter, given: Value, made: Value, node: ast.AST) -> None:
    why = _why_log(it, given)
    if why is None:
        return
    output = output_of(it, given)
    instead = _INSTEAD.get(output.activation if output is not None else "", "")
    if not instead and given.op is ops.SUBTRACT:
        instead = _INSTEAD["sigmoid"]
    instead = instead or "a small number inside: `tf.maximum(x, 1e-7)`, or `x + 1e-7`"
    it.note(LogOfZero, node, code_of(given), why, instead, certain=False, holds=lambda: made.serial not in it.chosen)


def _is_moderate(it: Interpreter, given: Value) -> bool:
    """Whether what the softmax or sigmoid is given is known to lie so near zero that nothing underflows."""
    output = output_of(it, given)
    before = numbers_of(it, output.before) if output is not None and output.before is not None else None
    return before is not None and before.low > -_UNDERFLOWS_AT and before.high < _UNDERFLOWS_AT


def _why_log(it: Interpreter, given: Value) -> str | None:
    numbers = carried(it, given)
    if numbers is None or numbers.low > 0 or (numbers.is_constant and not is_replaced_by_number(it, given)):
        return None
    output = output_of(it, given)
    name = output.activation if output is not None else ""
    if numbers.low < 0:
        return f"{name or 'it'} computes negative numbers too" if numbers.is_signed and output is not None else None
    if numbers.zero is Zero.ORDINARY:
        return f"{name or 'it'} computes exact zeros"
    if numbers.zero is Zero.FAR_OUT and name in ("softmax", "sigmoid"):
        return None if _is_moderate(it, given) else f"{name} underflows to 0"
    is_rest = given.op is ops.SUBTRACT and len(given.operands) == 2 and given.operands[0].kind is Kind.LITERAL
    rest = output_of(it, given.operands[1]) if is_rest else None
    if numbers.zero is Zero.FAR_OUT and rest is not None and rest.activation in ("softmax", "sigmoid"):
        return f"{rest.activation} is exactly 1 for large inputs"
    return None


# --- roots ---------------------------------------------------------------------------------------------------------


def _judge_root(it: Interpreter, name: str, given: Value, made: Value, node: ast.AST) -> None:
    numbers = numbers_of(it, given)
    if numbers is not None and numbers.is_signed and output_of(it, given) is not None:
        it.note(
            PowerOfNegative, node, code_of(given), "0.5", "a linear layer computes negative numbers too", certain=True
        )
        return
    why = _why_zero(it, given)
    numbers = carried(it, given)
    if why is None and numbers is not None and numbers.zero is Zero.ORDINARY and numbers.low == 0 < numbers.high:
        why = "a relu computes exact zeros" if _is_rectified(it, given) else None
    if why is not None:
        starts = why.endswith("starts at zero")
        it.note(
            RootAtZero, node, _written(node, name), why, given.kind is Kind.VARIABLE, certain=starts,
            holds=lambda: made.serial not in it.chosen | it.masked,
        )  # fmt: skip


def _is_rectified(it: Interpreter, given: Value) -> bool:
    """Whether this is relu of what is known to have both signs, behind bounds that let zero through."""
    held = bounded(it, given)
    if held is not None:
        return _is_rectified(it, held.inside)
    output = output_of(it, given)
    if output is not None and output.activation in ("relu", "relu6"):
        return output.layer is not None or (output.before is not None and _is_signed(it, output.before))
    return False


def _is_signed(it: Interpreter, value: Value) -> bool:
    numbers = numbers_of(it, value)
    return numbers is not None and numbers.is_signed


def _judge_norm(it: Interpreter, name: str, given: Value, arguments: Arguments, made: Value, node: ast.AST) -> None:
    order = arguments.get(1, "ord")
    if order is not None and not (order.kind is Kind.LITERAL and order.ref in ("euclidean", "fro", 2, 2.0)):
        return
    why = _why_zero(it, given)
    if why is not None:
        starts = why.endswith("starts at zero")
        it.note(
            RootAtZero, node, _written(node, name), why, False, certain=starts,
            holds=lambda: made.serial not in it.chosen | it.masked,
        )  # fmt: skip


def _judge_spread(it: Interpreter, name: str, given: Value, arguments: Arguments, node: ast.AST) -> None:
    zero = starts_at_zero(it, given)
    if zero is not None:
        it.note(RootAtZero, node, _written(node, name), f"`{zero}` starts at zero", False)
        return
    axis = arguments.get(1, "axis")
    if axis is None or axis.kind is not Kind.LITERAL or type(axis.ref) is not int or not given.shape:
        return
    if -len(given.shape) <= axis.ref < len(given.shape) and given.shape[axis.ref] == 1:
        it.note(RootAtZero, node, _written(node, name), "there is one element along this axis", False, certain=True)


def _why_zero(it: Interpreter, value: Value, depth: int = 0) -> str | None:
    """Why a value surely holds an exact zero where it counts; None when nothing tells."""
    while depth < _DEEPEST:
        depth += 1
        if value.how is How.JOIN:
            ways = alternatives(value, 4) or []
            found = [_why_zero(it, way, depth) for way in ways if way is not value]
            return found[0] if found and all(found) and len(ways) == 1 else None
        variable = _starts_at_zero(it, value) or starts_at_zero(it, value)
        if variable is not None:
            return f"`{variable}` starts at zero"
        op = value.op
        if op in (ops.MULTIPLY, ops.POWER) and value.operands:
            if op is ops.MULTIPLY and value.operands[0] is not value.operands[1]:
                return None
            value = value.operands[0]
        elif op in (ops.SUBTRACT, ops.ADD) and len(value.operands) == 2:
            left, right = value.operands
            if op is ops.SUBTRACT and (why := _why_equal(it, left, right)) is not None:
                return why
            return "every row is compared with itself" if _is_gram(value) else None
        elif op.role in (Role.BOUND, Role.CLIP):
            held = bounded(it, value)
            if held is None or not held.lets_zero_through:
                return None
            value = held.inside
        elif op is ops.RELU and value.given is not None and value.given.positional:
            value = value.given.positional[0]
        elif (op.hands_on or op in _PASSING) and (value.inputs or value.given is not None):
            first = value.given.positional[0] if value.given is not None and value.given.positional else None
            value = first if isinstance(first, Value) else value.inputs[0] if value.inputs else value
            if value.kind is Kind.LITERAL:
                return None
        elif op is ops.SQUARED_DIFFERENCE and len(value.operands) == 2:
            return _why_equal(it, *value.operands)
        else:
            return None
    return None


_PASSING = frozenset({ops.SQUARE, ops.ABS, ops.SUM, ops.MEAN, ops.ITEM})


def _why_equal(it: Interpreter, left: Value, right: Value) -> str | None:
    """Why two sides surely are the same where it counts."""
    if _are_paired(left, right):
        return "every row is compared with itself"
    numbers = initial_numbers(it, left)
    if left is not right and numbers is not None and numbers == initial_numbers(it, right):
        return f"`{_named(left)}` and `{_named(right)}` start equal"
    return None


def _named(value: Value) -> str:
    bound = value.ref.bound if isinstance(value.ref, Variable) else ""
    return bound or code_of(value)


def _starts_at_zero(it: Interpreter, value: Value) -> str | None:
    """The name of a trained variable that is made of zeros."""
    if value.kind is not Kind.VARIABLE or not isinstance(value.ref, Variable) or value.fill is not Fill.ZEROS:
        return None
    if value.ref.trainable is not True or value.ref.id in it.assigned:
        return None
    return value.ref.bound or value.ref.name or value.label or None


def _are_paired(left: Value, right: Value) -> bool:
    """Whether a difference takes every row from every row of the same: `x[:, None] - x[None]`."""
    if left is right:
        return False
    bases = [_unexpanded(each) for each in (left, right)]
    return bases[0][0] is bases[1][0] and bases[0][1] + bases[1][1] > 0 and bases[0][0].kind is not Kind.LITERAL


def _is_gram(value: Value) -> bool:
    """Whether this is `|x|^2 - 2 x x' + |x|^2`: squared distances of all rows among each other."""
    terms: list[Value] = []
    stack = [value]
    while stack and len(terms) < 8:
        each = stack.pop()
        if each.op in (ops.ADD, ops.SUBTRACT) and len(each.operands) == 2:
            stack.extend(each.operands)
        else:
            terms.append(each)
    if not all(map(carries_gradient, terms)):
        return False  # a small number inside
    for term in terms:
        for product in (term, *(term.operands if term.op is ops.MULTIPLY else ())):
            rows = _rows_met(product)
            others = [each for each in terms if each is not term]
            if rows is not None and any(rows is each for each in lineage(others, _MOST_BEHIND, all_behind)):
                return True
    return False


def _rows_met(value: Value) -> Value | None:
    """What meets itself in `x @ transpose(x)`; None of anything else."""
    if value.op is not ops.MATMUL or len(value.inputs) != 2:
        return None
    left, right = (_unscaled(_unexpanded(each)[0]) for each in value.inputs)
    return left if left is right else None


def _unscaled(value: Value) -> Value:
    """Behind a factor: `2 * x @ transpose(x)`."""
    if value.op is ops.MULTIPLY and len(value.operands) == 2:
        others = [each for each in value.operands if each.kind is not Kind.LITERAL]
        return _unexpanded(others[0])[0] if len(others) == 1 else value
    return value


def _unexpanded(value: Value) -> tuple[Value, int]:
    """The value before axes were put in, and how often that was done."""
    count = 0
    while count < 4:
        op = value.op
        if op is ops.ITEM and value.inputs and isinstance(value.node, ast.Subscript):
            if not _puts_in_axis(value.node.slice):
                break
        elif op not in (ops.EXPAND, ops.TRANSPOSE) or not value.inputs:
            break
        value, count = value.inputs[0], count + 1
    return value, count


def _puts_in_axis(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        (isinstance(each, ast.Constant) and each.value is None)
        or (isinstance(each, ast.Attribute) and each.attr == "newaxis")
        for each in parts
    )


# --- powers and arcs -----------------------------------------------------------------------------------------------


def judge_power(it: Interpreter, base: Value, exponent: Value, made: Value, node: ast.AST) -> None:
    """`base ** exponent`, written in any way."""
    learned = exponent.kind is Kind.VARIABLE and not exponent.ref.integer
    written_out = exponent.kind is Kind.LITERAL and type(exponent.ref) is float and exponent.ref % 1 > 0
    numbers = numbers_of(it, base) if learned or written_out else None
    if numbers is None or not matters(it, made):
        return
    written = f"{exponent.ref:g}" if written_out else f"`{code_of(exponent)}`"
    output = output_of(it, base)
    holds = lambda: made.serial not in it.chosen  # noqa: E731
    if numbers.is_signed and (output is not None or numbers.low == -inf):
        what = output.activation if output is not None else "it"
        why = (
            "a linear layer computes negative numbers too" if what == "linear" else f"{what} computes negative numbers"
        )
        it.note(PowerOfNegative, node, code_of(base), written, why, holds=holds)
    elif learned or exponent.ref >= 1:
        return
    elif numbers.zero is Zero.ORDINARY and numbers.low == 0 < numbers.high:
        at = carried(it, base)
        if at is not None and at.zero is Zero.ORDINARY and _is_rectified(it, base):
            it.note(
                RootAtZero, node, code_of_node(node), "a relu computes exact zeros", False, certain=False, holds=holds
            )
    else:
        why_zero = _why_zero(it, base)
        if why_zero is not None:
            infinite = base.kind is Kind.VARIABLE
            it.note(RootAtZero, node, code_of_node(node), why_zero, infinite, certain=False, holds=holds)


def _judge_arc(it: Interpreter, op: Op, name: str, given: Value, node: ast.AST) -> None:
    numbers = numbers_of(it, given)
    why = None
    clips = given.op.role in (Role.CLIP, Role.BOUND)
    if clips and numbers is not None and (numbers.low == -1 or numbers.high == 1):
        why = "the clip lets through exactly 1 and -1"
    elif _is_cosine(given) and op is not ops.ACOSH:
        why = "a cosine is 1 for parallel vectors, and by rounding above it"
    output = output_of(it, given)
    if why is None and output is not None and output.activation == "tanh" and output.layer is None:
        why = "a tanh is exactly 1 from about 9 on"
    if op is ops.ACOSH:
        why = "the clip lets through exactly 1" if clips and numbers is not None and numbers.low == 1 else None
    if why is not None:
        it.note(ArcAtBorder, node, name, code_of(given), why, certain=False)


def _is_cosine(value: Value) -> bool:
    """Whether this is a sum of products of normalised vectors."""
    op = value.op
    if op.role is Role.MATRIX_PRODUCT and len(value.inputs) == 2:
        return all(_is_normalized(each) for each in value.inputs)
    if op is ops.SUM and value.inputs:
        inner = value.inputs[0]
        if inner.op is ops.MULTIPLY and len(inner.inputs) == 2:
            return all(_is_normalized(each) for each in inner.inputs)
    return False


def _is_normalized(value: Value) -> bool:
    return value.op is ops.NORMALIZE


def _written(node: ast.AST, name: str) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else name


def describe(numbers: Numbers) -> str:
    """A range in words: "0 to 1"."""
    low = "-inf" if numbers.low == -inf else f"{numbers.low:g}"
    high = "inf" if numbers.high == inf else f"{numbers.high:g}"
    return low if low == high else f"{low} to {high}"
