"""Rebinding: a name or attribute that held a variable is bound to a tensor, and the variable stays as it was.

Noted while statements run; `gradients.py` makes events of the notes. That a rebound name is asked for again is no
note but a cut, found by `blame.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from weakref import WeakKeyDictionary

from gradlint.flow.certainty import is_slice_of_weight, is_surely_tensor, variable_behind
from gradlint.flow.events import Rebinding, VariableAugmented, VariableRebound
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import LAYER_VARIABLES
from gradlint.flow.objects import Variable
from gradlint.flow.scopes import names_of
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.ops import table as ops
from gradlint.verdicts import ZERO_CAUSES

#: What tf.Variable refuses; `//=`, `%=` and `@=` bind the name anew (TensorFlow 2.21: fixtures/GL212).
_REFUSED = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_DEEPEST = 8


def note_augmented(it: Interpreter, left: Value, node: ast.AugAssign) -> bool:
    """`variable -= x`: note that a tf.Variable raises, and whether it surely does."""
    ways = alternatives(left, 8) or []
    raising = [way for way in ways if _is_tf_variable(way)]
    if not raising or it.expected or not isinstance(node.op, _REFUSED):
        return False
    sure = len(raising) == len(ways)
    if not sure and not all(way in raising or way.is_opaque for way in ways):
        return False
    it.note(VariableAugmented, node, certain=sure)
    return sure


def _is_tf_variable(value: Value) -> bool:
    if value.kind is not Kind.VARIABLE or not isinstance(value.ref, Variable) or value.ref.keras:
        return False
    return value.ref.owner is None or value.ref.exact is False


def note_name(it: Interpreter, name: str, old: Value | None, new: Value, statement: ast.stmt) -> None:
    """`name = ...`, where the name held a variable or an element of a list."""
    if old is None or old is new or not _is_computed(new):
        return
    if name in it.frame.names.global_:
        _note_kept(it, name, old, new, statement)
        return
    if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
        return  # it is put somewhere else as well
    scope = it.frame.function.node if it.frame.function is not None else it.tree
    if isinstance(scope, ast.Lambda) or name in it.frame.names.nonlocal_:
        return
    if _is_sliced(old) and _meets(new, lambda each: each is old) and is_dead_store(scope, name, statement):
        it.note(VariableRebound, statement, name, Rebinding.SLICED, None)
        return
    held = _held(old)
    if held is None:
        return
    asked = (id(statement), name, held is Kind.VARIABLE)
    if asked not in it.never_read:
        it.never_read[asked] = _is_never_read(scope, name, statement, parameters_too=held is Kind.VARIABLE)
    if it.never_read[asked]:
        it.note(VariableRebound, statement, name, Rebinding.LOST, held)


def note_attribute(it: Interpreter, name: str, old: Value | None, new: Value, statement: ast.stmt) -> None:
    """`self.w = self.w - rate * gradient`."""
    if old is not None and old is not new and _is_computed(new):
        if _is_sliced(old) and _meets(new, lambda each: each is old) and not _reads_attribute(it, name, statement):
            it.note(VariableRebound, statement, name, Rebinding.SLICED, None)
            return
        _note_kept(it, name, old, new, statement)


def note_element(it: Interpreter, name: str, statement: ast.stmt) -> None:
    """`model.weights[0] = ...`: the property makes a new list each time, and only that changes."""
    it.note(VariableRebound, statement, name, Rebinding.LOST, Kind.VARIABLE)


def _note_kept(it: Interpreter, name: str, old: Value, new: Value, statement: ast.stmt) -> None:
    if not it.open_code or it.relevance.watches or not it.relevance.is_assigned_once(name.rpartition(".")[2]):
        return  # where the file calls it, the next step shows; a watched or restored one may be meant
    variables = [way for way in alternatives(old, 8) or () if way.kind is Kind.VARIABLE]
    if variables and descends(new, variables):
        it.note(VariableRebound, statement, name, Rebinding.KEPT, Kind.VARIABLE)


def _is_computed(value: Value) -> bool:
    return value.how is How.OPERATION and value.kind in (Kind.TENSOR, Kind.UNKNOWN)


def descends(new: Value, variables: list[Value]) -> bool:
    """Whether the value was computed from one of the variables and from a gradient: a step of gradient descent."""
    return _meets(new, lambda each: each in variables) and _meets(new, lambda each: each.how is How.GRADIENT)


def _meets(value: Value, wanted: Callable[[Value], bool]) -> bool:
    stack, seen = [(value, 0)], set[int]()
    while stack:
        each, depth = stack.pop()
        if wanted(each):
            return True
        if each.serial not in seen and depth < _DEEPEST and (each.how is not How.GRADIENT or depth == 0):
            seen.add(each.serial)
            stack.extend((below, depth + 1) for below in each.inputs)
            stack.extend((below, depth + 1) for below, cause in each.dead if cause in ZERO_CAUSES)
    return False


def _is_sliced(old: Value) -> bool:
    """Whether this is a slice of a variable (or of a layer's weight), and no variable itself."""
    if is_slice_of_weight(old):
        return True
    if old.how is How.OPERATION and old.op in (ops.SPLIT, ops.UNSTACK) and old.inputs:
        return old.inputs[0].kind is Kind.VARIABLE
    return old.kind is Kind.TENSOR and old.op is ops.ITEM and variable_behind(old) is not None


def is_dead_store(scope: ast.AST, name: str, statement: ast.stmt) -> bool:
    """Whether nothing reads the name after the statement, next turns of its loops included."""
    if _reads_later(scope, name):
        return False
    reads = list(_reads(scope, name, statement))
    if any(each.id != name or not _is_before(each, statement) for each in reads):
        return False
    stores = [
        each
        for each in ast.walk(scope)
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
    ]
    for loop in ast.walk(scope):
        if not isinstance(loop, ast.For | ast.While) or not _contains(loop, statement):
            continue
        inside = [each for each in reads if _contains(loop, each)]
        first = [each for each in stores if _contains(loop, each) and not _contains(statement, each)]
        if any(not any(_is_before(store, read) for store in first) for read in inside):
            return False
        if not first:
            return False  # the next turn changes the copy further: it may be meant to be one
    return True


def _reads_attribute(it: Interpreter, name: str, statement: ast.stmt) -> bool:
    last = name.rpartition(".")[2]
    own = {id(each) for each in ast.walk(statement)}
    return any(
        isinstance(each, ast.Attribute) and each.attr == last and isinstance(each.ctx, ast.Load) and id(each) not in own
        for each in it.nodes(last)
    )


def _held(old: Value) -> Kind | None:
    """VARIABLE or TENSOR when the name surely held such a thing."""
    ways = alternatives(old, 16)
    if not ways:
        return None
    if all(_is_variable(way) for way in ways):
        return Kind.VARIABLE
    if all(way.how is How.GRADIENT or is_surely_tensor(way) for way in ways):
        return Kind.TENSOR  # an array is changed in place
    return None


def _is_variable(value: Value) -> bool:
    if value.kind is Kind.VARIABLE:
        return True
    if value.how is How.PART and isinstance(value.node, ast.Attribute) and value.node.attr in LAYER_VARIABLES:
        return True
    return value.how is How.PART and bool(value.inputs) and value.inputs[0].kind is Kind.VARIABLES


def _is_never_read(scope: ast.AST, name: str, statement: ast.stmt, *, parameters_too: bool) -> bool:
    """Whether a loop name (or parameter) is bound here for the last time, and nothing reads it afterwards."""
    loops = [each for each in _index_of(scope).loops if _contains(each, statement)]
    binding = [loop for loop in loops if isinstance(loop, ast.For) and _binds(loop.target, name)]
    if len(binding) > 1 or _reads_later(scope, name):
        return False
    around = [loop for loop in loops if loop not in binding and (not binding or _contains(loop, binding[0]))]
    earlier = _read_element(scope, name, statement) if parameters_too and not binding else None
    if not binding and earlier is None:
        is_parameter = isinstance(scope, ast.FunctionDef) and name in {each.arg for each in _parameters(scope)}
        if not (parameters_too and is_parameter):
            return False
    inner = [loop for loop in loops if loop not in binding and loop not in around]
    for node in _reads(scope, name, statement):
        if node.id != name:
            return False  # `locals()` reads it
        after = (node.lineno, node.col_offset) > (statement.lineno, statement.col_offset)
        if earlier is not None:
            if after or _is_before(node, earlier):
                return False  # read on, or read from the last turn of a loop
            continue
        if after or any(_contains(loop, node) for loop in inner):
            return False
        if any(_contains(loop, node) for loop in around) and not (binding and _contains(binding[0], node)):
            return False
    return True


def _read_element(scope: ast.AST, name: str, statement: ast.stmt) -> ast.stmt | None:
    """`w = weights[i]`, before the statement in the same block, which makes a new value of `w`."""
    if isinstance(statement, ast.Assign) and not _binds(statement.value, name):
        return None
    for node in ast.walk(scope):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and statement in block:
                before = block[: block.index(statement)]
                found = next((each for each in before if isinstance(each, ast.Assign) and _assigns(each, name)), None)
                return found if found is not None and isinstance(found.value, ast.Subscript | ast.Attribute) else None
    return None


def _assigns(statement: ast.Assign, name: str) -> bool:
    return any(isinstance(left, ast.Name) and left.id == name for left in statement.targets)


def _reads_later(scope: ast.AST, name: str) -> bool:
    """Whether a function or lambda inside the scope reads the name, which happens whenever that is called."""
    return name in _index_of(scope).later


class _Index:
    """The names of a scope, collected by one walk: a long function assigns as often as it has lines."""

    def __init__(self, scope: ast.AST) -> None:
        self.reads: dict[str, list[ast.Name]] = {}
        self.narrowed: set[str] = set()  # what loops and comprehensions bind for themselves
        self.later: set[str] = set()
        self.loops: list[ast.For | ast.While] = []
        for node in ast.walk(scope):
            if isinstance(node, ast.For | ast.While):
                self.loops.append(node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self.reads.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.For | ast.comprehension):
                self.narrowed |= {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
            elif isinstance(node, ast.FunctionDef | ast.Lambda) and node is not scope:
                own = names_of(node).local if isinstance(scope, ast.Module) else frozenset[str]()
                self.later |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - set(own)


_INDEXES: WeakKeyDictionary[ast.AST, _Index] = WeakKeyDictionary()


def _index_of(scope: ast.AST) -> _Index:
    index = _INDEXES.get(scope)
    if index is None:
        index = _INDEXES[scope] = _Index(scope)
    return index


def _is_before(node: ast.AST, other: ast.AST) -> bool:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)) < (
        getattr(other, "lineno", 0),
        getattr(other, "col_offset", 0),
    )


def _reads(scope: ast.AST, name: str, statement: ast.stmt) -> Iterator[ast.Name]:
    """The reads of a name in a scope, without those in other loops and comprehensions that bind it themselves."""
    index = _index_of(scope)
    if name not in index.narrowed:
        own = {id(each) for each in ast.walk(statement)}
        asked = [index.reads.get(each, ()) for each in (name, "locals", "vars", "eval", "exec")]
        yield from (each for reads in asked for each in reads if id(each) not in own)
        return
    waiting: list[ast.AST] = [scope]
    while waiting:
        node = waiting.pop()
        if node is statement:
            continue
        if isinstance(node, ast.Name) and node.id in (name, "locals", "vars", "eval", "exec"):
            if isinstance(node.ctx, ast.Load):
                yield node
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            if any(_binds(each.target, name) for each in node.generators):
                waiting.append(node.generators[0].iter)
                continue
        if isinstance(node, ast.For) and _binds(node.target, name) and not _contains(node, statement):
            waiting.extend((node.iter, *node.orelse))
            continue
        waiting.extend(ast.iter_child_nodes(node))


def _parameters(scope: ast.FunctionDef) -> list[ast.arg]:
    return [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(target))


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    start = (getattr(outer, "lineno", 0), getattr(outer, "col_offset", 0))
    end = (getattr(outer, "end_lineno", 0) or 0, getattr(outer, "end_col_offset", 0) or 0)
    at = (getattr(inner, "lineno", 0), getattr(inner, "col_offset", 0))
    return start <= at < end


_METHODS: dict[type[ast.operator], str] = {ast.Add: "assign_add", ast.Sub: "assign_sub"}


def assigning_call(name: str, node: ast.AST) -> str:
    """The method call that changes the variable as the statement or expression means to."""
    if isinstance(node, ast.AugAssign):
        method = _METHODS.get(type(node.op))
        if method is not None:
            return f"{name}.{method}({ast.unparse(node.value)})"
        return f"{name}.assign({ast.unparse(ast.BinOp(node.target, node.op, node.value))})"
    value = node.value if isinstance(node, ast.Assign) else node
    if isinstance(value, ast.BinOp) and ast.unparse(value.left) == name and type(value.op) in _METHODS:
        return f"{name}.{_METHODS[type(value.op)]}({ast.unparse(value.right)})"
    return f"{name}.assign(...)"
