"""Slices: what TensorFlow makes of `x[i] = ...`, of methods of slices, and of writing into copies."""

from __future__ import annotations

import ast

from gradlint.flow.certainty import is_surely_tensor, is_variable, variable_behind
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Variable
from gradlint.flow.update_events import CopyWritten, Holder, ItemAssigned, ScatterMethodCalled, SliceMethodCalled
from gradlint.flow.values import DType, How, Kind, Value
from gradlint.flow.written import is_same_node
from gradlint.knowledge.variable_methods import SCATTERING
from gradlint.ops import table as ops

#: Calls whose arrays are copies of a variable's numbers.
_COPIES = (".numpy", "get_weights")


def note_item(it: Interpreter, ways: list[Value], node: ast.AST) -> bool:
    """`base[index] = value`: note that TensorFlow refuses; True when it surely does."""
    refusing = [way for way in ways if _refuses_items(way) or is_handed_over(it, way, node)]
    if not refusing or it.expected or not isinstance(node, ast.Subscript) or _is_key(node.slice):
        return False
    sure = len(refusing) == len(ways)
    if not sure and not all(way in refusing or way.is_opaque for way in ways):
        return False
    augmented = it.augmenting is node
    it.note(ItemAssigned, node, ast.unparse(node.value), _holder(refusing[0]), augmented, certain=sure)
    return sure


def _is_key(index: ast.expr) -> bool:
    """Whether this is an index of dictionaries, whatever the value was taken for."""
    return isinstance(index, ast.JoinedStr) or (isinstance(index, ast.Constant) and isinstance(index.value, str))


def _refuses_items(way: Value) -> bool:
    if way.kind is Kind.PLAIN:  # a view of a tensor's memory: NumPy refuses
        return way.op is ops.AS_ARRAY and bool(way.dead) and all(is_surely_tensor(each) for each, _ in way.dead)
    return is_variable(way) or is_surely_tensor(way)


def is_handed_over(it: Interpreter, value: Value, node: ast.AST) -> bool:
    """Whether Keras or a data set hands this over, and it is indexed as only a tensor can be: `x[:, i] = ...`."""
    if not isinstance(node, ast.Subscript):
        return False
    if _is_argument_of(it, value, "update_step", "keras.optimizers"):
        return True
    if isinstance(node.slice, ast.UnaryOp | ast.Compare) and value.how is How.OPAQUE_CALL:
        return _is_of_model(value)
    if not isinstance(node.slice, ast.Tuple):
        return False
    if not any(isinstance(each, ast.Slice) or is_ellipsis(each) for each in node.slice.elts):
        return False
    each = value
    while each.op is ops.ITEM and each.how is How.OPERATION and len(each.inputs) == 1:
        each = each.inputs[0]
    if each.label in ("dataset element", "batch"):
        return True
    if each.how is How.OPAQUE_CALL:
        return _is_of_model(each)
    return any(_is_argument_of(it, each, "call", space) for space in ("keras.layers", "keras.models", "keras.losses"))


def _is_of_model(value: Value) -> bool:
    """Whether an unseen call is that of a Keras model, by its argument."""
    return isinstance(value.node, ast.Call) and any(keyword.arg == "training" for keyword in value.node.keywords)


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _is_argument_of(it: Interpreter, value: Value, name: str, space: str) -> bool:
    """Whether this is what Keras gives to a method of a class of the file."""
    if value.how is not How.PARAMETER or not isinstance(value.node, ast.arg):
        return False
    for frame in it.frame.callers():
        function = frame.function
        if function is None or function.owner is None or isinstance(function.node, ast.Lambda):
            continue
        if function.name == name and value.node in function.node.args.args:
            return any(family.startswith(space) for family in function.owner.families)
    return False


def _holder(value: Value) -> Holder:
    if is_variable(value):
        return Holder.VARIABLE
    if value.kind is Kind.PLAIN:
        return Holder.READ_ONLY
    if value.of is not None:
        return Holder.GRADIENT
    return Holder.SLICE if variable_behind(value) is not None else Holder.TENSOR


def note_method(it: Interpreter, receiver: Value, name: str, node: ast.AST | None) -> bool:
    """A method that only variables (or only tf.Variables) have, called or handed on; True when it surely raises."""
    read = node.func if isinstance(node, ast.Call) else node
    if it.expected or it.choosing or node is None or not isinstance(read, ast.Attribute):
        return False
    owner = ast.unparse(read.value)
    if receiver.kind is Kind.VARIABLE:
        if name in SCATTERING and isinstance(receiver.ref, Variable) and receiver.ref.keras:
            it.note(ScatterMethodCalled, node, owner, name)
            return True
        return False
    if not is_surely_tensor(receiver) or is_assignable_slice(receiver, name):
        return False
    behind = variable_behind(receiver)
    variable = ast.unparse(_innermost(read.value)) if behind is not None else ""
    it.note(SliceMethodCalled, node, owner, name, variable, receiver.op is ops.ITEM and behind is not None)
    return True


def note_unseen_method(it: Interpreter, name: str, node: ast.AST) -> None:
    """`layer.kernel[i].assign_sub(x)` of a layer that cannot be seen."""
    if not it.expected and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = ast.unparse(node.func.value)
        variable = ast.unparse(_innermost(node.func.value))
        it.note(SliceMethodCalled, node, owner, name, variable, True, certain=False)


def is_assignable_slice(value: Value, name: str) -> bool:
    """Whether this is `v[i]` of a variable, which has an `assign` of its own and nothing else."""
    if name != "assign" or value.how is not How.OPERATION or value.op is not ops.ITEM or not value.inputs:
        return False
    base = value.inputs[0]
    if any(index.dtype is DType.BOOL for index, _ in value.dead):
        return False  # a boolean mask picks entries into a tensor of its own
    if base.op is ops.READ and base.inputs:
        base = base.inputs[0]
    return base.kind is Kind.VARIABLE or base.is_opaque


def _innermost(node: ast.expr) -> ast.expr:
    while True:
        match node:
            case ast.Subscript(value=inner):
                node = inner
            case ast.Call(args=[first, *_]):
                node = first
            case _:
                return node


def note_copy(it: Interpreter, array: Value, node: ast.AST) -> None:
    """`v.numpy()[i] = 0`, or into a name that holds such a copy and is only ever written into."""
    if it.expected:
        return
    inner: ast.AST = node
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    if isinstance(inner, ast.Call):
        if _copies(inner):
            it.note(CopyWritten, node, ast.unparse(inner))
        return
    if isinstance(inner, ast.Name):
        _note_named_copy(it, array, inner.id, node)


def _note_named_copy(it: Interpreter, array: Value, name: str, node: ast.AST) -> None:
    base = _copied(array)
    if base is None or base.node is None or base.node is node:
        return
    if _is_only_written(it, name) and not _is_kept(it, base.node, name):
        it.note(CopyWritten, node, ast.unparse(base.node), steps=((f"`{name}` copied here", base.node),))


def _is_kept(it: Interpreter, copying: ast.AST, name: str) -> bool:
    """Whether the list that the array is an element of has a name of its own, which something else reads."""
    function = it.frame.function
    for each in ast.walk(function.node) if function is not None else ():
        if isinstance(each, ast.Assign) and is_same_node(each.value, copying) and isinstance(each.targets[0], ast.Name):
            listed = each.targets[0].id
            if listed == name:
                continue
            reads = [
                node
                for node in ast.walk(function.node if function is not None else it.tree)
                if isinstance(node, ast.Name) and node.id == listed and isinstance(node.ctx, ast.Load)
            ]
            return len(reads) > 1
    return False


_WRITING_METHODS = frozenset({"fill", "sort", "put", "itemset", "partition"})


def note_call_on_copy(it: Interpreter, node: ast.Call) -> None:
    """`v.numpy().fill(0)`, `np.copyto(v.numpy(), values)` as a statement."""
    written = None if it.expected else _written_by(node)
    if isinstance(written, ast.Call) and _copies(written):
        it.note(CopyWritten, node, ast.unparse(written))
    elif isinstance(written, ast.Name):
        array = it.store.get((it.frame.id, written.id))
        if array is not None:
            _note_named_copy(it, array, written.id, node)


def _written_by(node: ast.Call) -> ast.expr | None:
    """The array that a call of NumPy writes into."""
    function = node.func
    if not isinstance(function, ast.Attribute):
        return None
    written = function.value if function.attr in _WRITING_METHODS else None
    if function.attr in ("copyto", "put", "place", "putmask", "fill_diagonal") and node.args:
        written = node.args[0]
    while isinstance(written, ast.Subscript):
        written = written.value
    return written


def _copies(node: ast.Call) -> bool:
    """Whether a call makes an array that nobody else holds: `v.numpy()`, `layer.get_weights()`."""
    return isinstance(node.func, ast.Attribute) and node.func.attr in ("numpy", "get_weights") and not node.args


def _copied(array: Value) -> Value | None:
    """The call that copied numbers of variables into this array, or into the list that it is an element of."""
    each = array
    if array.kind is Kind.UNKNOWN and isinstance(array.node, ast.Subscript):
        call = array.node.value
        gets = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "get_weights"
        return array if gets else None
    for _ in range(3):
        if each.kind is not Kind.PLAIN:
            return None
        if each.label in _COPIES or each.op is ops.ARRAY:
            held = [value for value, _ in each.dead]
            of_variables = all(value.kind in (Kind.VARIABLE, Kind.VARIABLES) for value in held)
            return each if held and (of_variables or each.label == "get_weights") else None
        if each.op is not ops.ITEM or not each.inputs:
            return None
        each = each.inputs[0]
    return None


def _is_only_written(it: Interpreter, name: str) -> bool:
    """Whether a local name is never read, but to write into what it holds."""
    function = it.frame.function
    if function is None or isinstance(function.node, ast.Lambda) or name not in it.frame.names.local:
        return False
    own: set[int] = set()
    for statement in ast.walk(function.node):
        if isinstance(statement, ast.Assign | ast.AugAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            bases = {base.id for target in targets for base in _bases(target) if isinstance(base, ast.Name)}
            if name in bases:
                own |= {id(each) for each in ast.walk(statement)}  # what it reads of itself it writes back
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            written = _written_by(statement.value)
            if isinstance(written, ast.Name) and written.id == name:
                own |= {id(each) for each in ast.walk(statement)}
    for each in ast.walk(function.node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "len":
            own |= {id(argument) for argument in each.args}  # asks how many there are, and reads none of them
    return all(
        id(each) in own or not isinstance(each.ctx, ast.Load)
        for each in ast.walk(function.node)
        if isinstance(each, ast.Name) and each.id == name
    )


def _bases(node: ast.expr) -> list[ast.expr]:
    """A target and all that it is an item of."""
    found: list[ast.expr] = [node]
    while isinstance(node, ast.Subscript):
        node = node.value
        found.append(node)
    return found
