"""Unused layers: layers that a model makes and never calls, calls for nothing, and weights that it never reads.

Asked when the run is over, of every class of the file that is a layer or model of Keras. What the text mentions
anywhere counts as used: a name may be reached in ways that were not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradlint.flow.classes import open_instance
from gradlint.flow.instances import class_attribute, is_empty
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import is_keras_family, may_be_part, members_of
from gradlint.flow.model_events import LayerNeverCalled, LayerOutputDropped, WeightNeverUsed
from gradlint.flow.objects import Class, Instance, Layer, Variable
from gradlint.flow.rebinding import is_dead_store
from gradlint.flow.scopes import Frame
from gradlint.flow.tracking import note_class_layers
from gradlint.flow.values import How, Kind, Value
from gradlint.flow.written import is_written_in

_CONSTRUCTORS = frozenset({"__init__", "build"})
#: Whoever uses these reaches attributes without naming them.
_REACHES_ALL = frozenset(
    "layers _layers submodules _flatten_layers __dict__ vars getattr get_layer _self_tracked_trackables".split()
)
_PROPERTIES = frozenset(
    "built weights trainable_weights trainable_variables variables name trainable build compute_output_shape "
    "compute_output_spec get_config count_params".split()
)
_WEIGHT_READERS = frozenset("weights trainable_weights get_weights variables trainable_variables".split())


def judge_classes(it: Interpreter) -> None:
    """Look at the layers and weights of each layer and model of the file."""
    own = [cls for cls in it.classes if cls.frame.top is it.entry.frame]
    classes = [cls for cls in own if is_keras_family(cls) and _computes(it, cls)]
    if not classes:
        return
    tops = {each.frame.top: None for cls in classes for each in cls.lineage()}  # bases may stand in other files
    text = _Mentions([top.module.source.tree for top in tops if top.module is not None and top.module.source])
    for cls in classes:
        for each in cls.lineage():
            note_class_layers(it, each)
        if text.reaches_all(cls):
            continue
        instance = _instance_of(it, cls)
        if instance is None:
            continue
        followed = _is_followed(it, instance)
        mentioned = _mentioned_elsewhere(it, cls) if followed else text.loaded
        for name, value in _own_attributes(it, instance, cls):
            if name not in mentioned:
                _judge_attribute(it, cls, name, value, followed=followed)


def _is_followed(it: Interpreter, instance: Value) -> bool:
    """Whether the file makes and calls the object itself, and nobody else has it: what it reads was seen."""
    owner: Instance = instance.ref
    return not owner.open_self and not owner.escaped_at and bool(it.called_layers.get(owner.id))


def _mentioned_elsewhere(it: Interpreter, cls: Class) -> set[str]:
    """The attributes that code of the class reads which the file never runs: whoever runs it may need these.

    Methods, functions inside of methods that are handed on, and arms of an `if`: a flag may choose the other one.
    """
    found: set[str] = set()
    resolved: set[str] = set()
    for each in cls.lineage():
        for method in each.node.body:
            if not isinstance(method, ast.FunctionDef) or method.name in resolved:
                continue
            resolved.add(method.name)
            for part in _not_run(it, method):
                found |= {node.attr for node in ast.walk(part) if isinstance(node, ast.Attribute)}
    return found


def _not_run(it: Interpreter, method: ast.FunctionDef) -> Iterator[ast.AST]:
    """The parts of a method that may not have been run."""
    if method not in it.entered_closed:
        yield method
        return
    for node in ast.walk(method):
        if isinstance(node, ast.FunctionDef | ast.Lambda) and node is not method and node not in it.entered_closed:
            yield node
        elif isinstance(node, ast.If):
            yield from (*node.body, *node.orelse)
        elif isinstance(node, ast.IfExp):
            yield from (node.body, node.orelse)


def _computes(it: Interpreter, cls: Class) -> bool:
    """Whether the class says in this file what is computed; one that leaves that to others keeps layers for them."""
    call = class_attribute(it, cls, "call")
    if call is None or call.kind is not Kind.FUNCTION:
        return False
    own = next((each for each in cls.node.body if isinstance(each, ast.FunctionDef) and each.name == "call"), None)
    if own is None:
        return not cls.open_base
    hands_up = any(isinstance(each, ast.Name) and each.id == "super" for each in ast.walk(own))
    return not (hands_up and (cls.open_base or any(_is_foreign(family) for family in cls.families)))


def _is_foreign(family: str) -> bool:
    """Whether the base is more than the bare layer or model of Keras."""
    return family not in ("keras.models.Model", "keras.layers.Layer", "keras.models.Sequential")


def _instance_of(it: Interpreter, cls: Class) -> Value | None:
    for owner in it.objects.values():
        if isinstance(owner, Instance) and owner.cls is cls and not owner.open_self:
            return Value(Kind.INSTANCE, How.FRESH, 0, ref=owner)
    return open_instance(it, cls)


def _own_attributes(it: Interpreter, instance: Value, cls: Class) -> Iterator[tuple[str, Value]]:
    """The attributes that a constructor of the class itself sets."""
    for key in it.cells_of(instance.ref.id):
        value = it.store.get(key)
        if value is None or not isinstance(key[1], str) or key[1].startswith("<") or value.how is How.JOIN:
            continue
        function = value.frame.function if value.frame is not None else None
        if function is None or function.name not in _CONSTRUCTORS:
            continue
        inherited = function.owner in cls.lineage() and not instance.ref.open_self
        if function.owner is cls or inherited:
            yield key[1], value


def _judge_attribute(it: Interpreter, cls: Class, name: str, value: Value, *, followed: bool) -> None:
    if value.node is None or it.stored.get(value.serial) is None or _has_own_name(it, value):
        return
    written = f"self.{name}"
    if it.sources.mentions(name, cls.name, it.entry.path):
        return  # another file of the project uses it
    if value.kind is Kind.VARIABLE and isinstance(value.ref, Variable):
        used = followed and (value.ref.id in it.weights_read or bool(value.ref.escaped_at))
        if value.ref.keras and value.ref.trainable is True and value.ref.id not in it.assigned and not used:
            it.note(WeightNeverUsed, value.node, written, cls.name, certain=False, frame=value.frame)
    elif _may_be_called(it, value) and not (value.ref.escaped_at or _is_used(it, value.ref.id)):
        it.note(LayerNeverCalled, value.node, written, cls.name, certain=False, frame=value.frame)


def _has_own_name(it: Interpreter, value: Value) -> bool:
    """Whether the constructor has a name of its own for it that is read there: `self.shift = shift = ...`."""
    function = value.frame.function if value.frame is not None else None
    if function is None or value.frame is None:
        return False
    kept = {id(each.value) for each in ast.walk(function.node) if isinstance(each, ast.Assign)}  # `self.shift = shift`
    names = {
        each.id
        for each in ast.walk(function.node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and id(each) not in kept
    }
    held = [it.store.get((value.frame.id, name)) for name in sorted(names - {"self"})]
    return any(each is not None and each.ref is value.ref for each in held)


def _is_used(it: Interpreter, layer: int) -> bool:
    return bool(it.called_layers.get(layer)) or layer in it.weights_read


def _may_be_called(it: Interpreter, value: Value) -> bool:
    """Whether this is a layer or model with weights."""
    if value.kind is Kind.LAYER and may_be_part(value.ref, None):
        return True
    is_model = value.kind is Kind.LAYER and bool(value.ref.sequence)
    if not is_model and not (value.kind is Kind.INSTANCE and is_keras_family(value.ref.cls)):
        return False
    return any(_has_weights(it, member) for member in members_of(it, value)[0])


def _has_weights(it: Interpreter, member: int) -> bool:
    owner = it.objects.get(member)
    return (isinstance(owner, Layer) and may_be_part(owner, None)) or isinstance(owner, Variable)


class _Mentions:
    """Which attributes the text of the file reads anywhere, and which classes reach attributes without naming them."""

    def __init__(self, trees: list[ast.Module]) -> None:
        self.loaded: set[str] = set()
        self._names: set[str] = set()
        strings: set[str] = set()
        inert: set[ast.expr] = set()  # of which only a property is asked
        for node in (each for tree in trees for each in ast.walk(tree)):
            if isinstance(node, ast.Attribute) and node.attr in _PROPERTIES:
                inert.add(node.value)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                if node not in inert:
                    self.loaded.add(node.attr)
            elif isinstance(node, ast.Name):
                self._names.add(node.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                strings.add(node.value)
        if self._names & {"getattr", "setattr", "vars", "attrgetter"}:
            self.loaded |= strings
        self._by_class: dict[ast.ClassDef, bool] = {}

    def reaches_all(self, cls: Class) -> bool:
        """Whether the class, or the file around it, takes all attributes at once."""
        known = self._by_class.get(cls.node)
        if known is None:
            known = self._by_class[cls.node] = self._reaches_all(cls.node)
        return known

    def _reaches_all(self, node: ast.ClassDef) -> bool:
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and each.attr in _REACHES_ALL and isinstance(each.value, ast.Name):
                if each.value.id == "self":
                    return True
            if isinstance(each, ast.Name) and each.id in ("getattr", "vars"):
                return True
            if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Attribute):
                if each.value.attr in _WEIGHT_READERS:
                    return True
        return False


def note_output_bound(it: Interpreter, name: str, value: Value, statement: ast.stmt) -> None:
    """`name = layer(x)`, where nothing reads the name again."""
    layer = value.callee
    if layer is not None and not _is_trained_layer(layer) and value.given is not None and value.given.positional:
        inner = value.given.positional[0]  # `pool(conv(x))`: the convolution is what is lost
        if isinstance(inner, Value) and is_written_in(it, inner.node, statement):
            layer, value = inner.callee, inner
    if layer is None or it.expected or not _is_trained_layer(layer):
        return
    function = it.frame.function
    if not any(_is_call(frame) for frame in it.frame.callers()) and value.kind is not Kind.SYMBOLIC:
        return
    scope = function.node if function is not None else it.tree
    if isinstance(scope, ast.Lambda) or it.frame.is_comprehension or name in it.frame.names.global_:
        return
    if scope is it.tree and name.isupper():
        return
    if is_dead_store(scope, name, statement) or _is_bound_anew(scope, name, statement):
        it.note(LayerOutputDropped, value.node or statement, _code(layer, value), name, certain=False)


def _is_bound_anew(scope: ast.AST, name: str, statement: ast.stmt) -> bool:
    """Whether the same block binds the name again before anything reads it."""
    for node in ast.walk(scope):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and statement in block:
                for following in block[block.index(statement) + 1 :]:
                    named = [each for each in ast.walk(following) if isinstance(each, ast.Name) and each.id == name]
                    if any(isinstance(each.ctx, ast.Load) for each in named):
                        return False
                    if named:
                        return isinstance(following, ast.Assign) and following.targets[0] is named[0]
    return False


def note_output_dropped(it: Interpreter, value: Value, node: ast.AST) -> None:
    """A layer is called as a statement, in the `call` of a layer."""
    layer = value.callee
    if layer is None or value.node is not node or it.expected or not _is_trained_layer(layer):
        return
    if not any(_is_call(frame) for frame in it.frame.callers()) or _fills_container(it, value):
        return
    it.note(LayerOutputDropped, node, _code(layer, value), "", certain=False)


def _fills_container(it: Interpreter, value: Value) -> bool:
    """Whether the layer is given an empty list or dict, which it may put its outputs into."""
    given = value.given.every() if value.given is not None else value.inputs
    return any(is_empty(it, each) for each in given)


def _is_call(frame: Frame) -> bool:
    """Whether this is the running `call` of a layer or model."""
    return frame.function is not None and frame.function.name == "call" and frame.cls is not None


def _is_trained_layer(layer: Value) -> bool:
    owner = layer.ref
    if layer.kind is not Kind.LAYER or not isinstance(owner, Layer) or owner.symbol.endswith("Regularization"):
        return False
    if owner.argument(None, "activity_regularizer") is not None:
        return False  # called for the loss that it adds
    return may_be_part(owner, None) or bool(owner.sequence)


def _code(layer: Value, value: Value) -> str:
    if isinstance(value.node, ast.Call):
        written = ast.unparse(value.node.func)
        return written if len(written) <= 60 else written[:57] + "..."
    return str(layer.ref.symbol).rpartition(".")[2]
