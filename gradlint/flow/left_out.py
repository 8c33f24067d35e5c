"""Left out: parts of a model that compute the loss and that nothing in the file trains."""

from __future__ import annotations

import ast
import re

from gradlint.flow.applied import applied_calls
from gradlint.flow.arguments import Arguments, name_called
from gradlint.flow.asking import Asked
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import is_keras_family, layers_within, may_be_part, surely_within
from gradlint.flow.model_events import LayerMadeInCall, PartNotTrained, WeightNotTrainable
from gradlint.flow.objects import Class, Instance, Layer, Variable
from gradlint.flow.outputs import initial_number
from gradlint.flow.reach import reach
from gradlint.flow.rebinding import is_dead_store
from gradlint.flow.scopes import Frame
from gradlint.flow.store import Key
from gradlint.flow.terms import bits_of
from gradlint.flow.tracking import is_seen
from gradlint.flow.update_events import PairsMismatched, TeacherTrained
from gradlint.flow.values import How, Kind, Value, is_literal
from gradlint.flow.written import is_same_node
from gradlint.knowledge.conventions import is_teacher, is_to_be_trained, stays_as_it_is

_RANDOM = re.compile(r"random|normal|uniform|glorot|he_|henormal|lecun|orthogonal|variancescaling", re.I)


def note_weight_made(it: Interpreter, variable: Value, arguments: Arguments, node: ast.AST) -> None:
    """`add_weight(trainable=False)` of numbers that are drawn at random, as a kernel's are."""
    owner = variable.ref
    if it.expected or not isinstance(owner, Variable) or not is_literal(arguments.keywords.get("trainable"), False):
        return
    initializer = arguments.keywords.get("initializer")
    if initializer is not None and not _RANDOM.search(_written(initializer)):
        return
    if initializer is not None and initial_number(initializer) is not None:
        return
    told = arguments.keywords.get("dtype")
    if told is not None and told.kind is Kind.LITERAL and not str(told.ref).startswith("float"):
        return
    chosen = initializer is not None and not _SCALED.search(_written(initializer))  # for numbers that stay
    name, cls = str(variable.label), it.frame.cls
    it.note(
        WeightNotTrainable, node, name or "the weight", certain=False,
        holds=lambda: not chosen and _should_train(it, owner, name) and not _makes_features(it, cls),
    )  # fmt: skip


def _should_train(it: Interpreter, weight: Variable, name: str) -> bool:
    """Whether nothing writes the weight, and its names say that a loss should train it."""
    if weight.id in it.assigned or it.assigns_unknown or weight.id not in it.value_of:
        return False
    names = f"{name} {weight.name.rpartition('.')[2]}"
    return is_to_be_trained(names) and not stays_as_it_is(names)


#: Initializers that scale by the width of what they are for, as a trained kernel needs.
_SCALED = re.compile(r"glorot|xavier|he_|henormal|heuniform|lecun|variance_?scaling", re.I)


def _written(initializer: Value) -> str:
    """The name of an initializer."""
    named = initializer.kind in (Kind.LITERAL, Kind.SYMBOL)
    return str(initializer.ref if named else getattr(initializer.ref, "symbol", ""))


def _makes_features(it: Interpreter, cls: Class | None) -> bool:
    """Whether a layer draws features and leaves them: Fourier features, or several weights (a reservoir)."""
    if cls is None:
        return False
    drawn = {note.node for note in it.notes if note.event is WeightNotTrainable and note.frame.cls is cls}
    return len(drawn) > 1 or any(
        isinstance(node, ast.Call) and name_called(node) in ("sin", "cos") for node in ast.walk(cls.node)
    )


def judge_teachers(it: Interpreter) -> None:
    """Per gradient call: a part that says what another one is to compute, and that the step trains with it."""
    applied = applied_calls(it)
    told: set[ast.AST] = set()
    for asked in it.asked:
        if asked.asked != "gradient" or asked.node not in applied or asked.node in told or not _trains_layers(asked):
            continue
        for source in asked.sources:
            owner = source.value.ref.owner
            if source.within or not isinstance(owner, Instance):
                continue
            names = _teachers(it, owner)
            computing = {part.ref.id for part in _parts(it, asked, whole=True)} if names else set()
            for name in names:
                held = it.store.get((owner.id, name))
                members = (layers_within(it, held) if held is not None else None) or frozenset()
                if members & computing and members <= source.members - source.value.ref.frozen:
                    told.add(asked.node)
                    it.note(TeacherTrained, asked.node, f"self.{name}", source.text, certain=False, frame=asked.frame)
                    break


def _teachers(it: Interpreter, owner: Instance) -> list[str]:
    """The attributes of a model that are called a teacher, beside others that hold layers."""
    names = [name for _, name in it.cells_of(owner.id) if isinstance(name, str)]
    found = [name for name in names if is_teacher(name)]
    return found if len(found) < len(names) else []


def judge_parts(it: Interpreter) -> None:
    """Per gradient call: parts that the target was computed with, and that no update of the file reaches."""
    trained: set[int] = set()
    applied = applied_calls(it)
    for asked in it.asked:
        for source in asked.sources:
            if source.open_members or source.value.is_opaque:
                return  # some of them are not known
            if asked.asked != "gradient" or asked.node in applied:
                trained |= source.members
    if any(note.event is PairsMismatched for note in it.notes):
        return  # what is trained by mistake, and what is not, is told there
    told: set[ast.AST] = set()
    in_vain = {part.ref.id for asked in it.asked for part in _asked_in_vain(it, asked, trained)}
    for asked in it.asked:
        if asked.asked != "gradient" or asked.node in told or not _trains_layers(asked):
            continue
        if asked.node in applied:
            left = [part for part in _parts(it, asked) if part.ref.id not in trained | in_vain]
            parts = [part for part in left if _is_meant(it, part)]
        else:
            parts = _asked_in_vain(it, asked, trained)
        if parts:
            told.add(asked.node)
            names = "` and `".join(dict.fromkeys(_name(it, part) for part in parts))
            it.note(PartNotTrained, asked.node, names, asked.sources[0].text, False, certain=False, frame=asked.frame)
        elif asked.node in applied and (variables := _variables_left(it, asked)):
            told.add(asked.node)
            names = "` and `".join(dict.fromkeys(each.name or each.bound for each in variables))
            steps = tuple((f"`{each.name or each.bound}` made here", each.node) for each in variables if each.node)
            text = "` and `".join(dict.fromkeys(each.text for each in asked.sources if not each.within))
            it.note(PartNotTrained, asked.node, names, text, True, certain=False, steps=steps, frame=asked.frame)


def _asked_in_vain(it: Interpreter, asked: Asked, trained: set[int]) -> list[Value]:
    """What a gradient is asked for and then forgotten, in a function that trains something else."""
    function = asked.frame.function
    if asked.asked != "gradient" or asked.node in applied_calls(it) or not _trains_layers(asked):
        return []
    siblings = [each for each in it.asked if each.frame is asked.frame and each.node in applied_calls(it)]
    if function is None or isinstance(function.node, ast.Lambda) or not siblings:
        return []
    for statement in ast.walk(function.node):
        if (
            isinstance(statement, ast.Assign)
            and is_same_node(statement.value, asked.node)
            and len(statement.targets) == 1
        ):
            target = statement.targets[0]
            if isinstance(target, ast.Name) and is_dead_store(function.node, target.id, statement):
                members = {member for source in asked.sources for member in source.members}
                return [it.layer_values[each] for each in sorted(members - trained) if _is_layer(it, each)]
    return []


def _trains_layers(asked: Asked) -> bool:
    """Whether the sources are the variables of layers, rather than an image or a latent vector."""
    return bool(asked.sources) and all(
        source.value.kind is Kind.VARIABLES and not isinstance(source.value.ref.owner, Value)
        for source in asked.sources
    )


def _parts(it: Interpreter, asked: Asked, *, whole: bool = False) -> list[Value]:
    """The layers that compute the target: those that feed what is trained, and in a `train_step` those after it too.

    With `whole`, all of them.
    """
    bits = bits_of(asked)
    found = reach(it, asked.targets, bits) if bits else None
    if found is None or found.opaque:
        return []
    asked_for = {member for source in asked.sources for member in source.members}
    whole = whole or _in_train_step(asked.frame)
    flowing: set[int] = set()
    stack, seen = [(each, False) for each in asked.targets], set[tuple[int, bool]]()
    while stack and len(seen) < 3000:
        each, upstream = stack.pop()
        if (each.serial, upstream) in seen:
            continue
        seen.add((each.serial, upstream))
        if each.kind is Kind.VARIABLES and (upstream or whole):
            flowing |= surely_within(it, each)
        if each.sure & bits or each.kind is Kind.CONTAINER or each.how is How.JOIN:
            trained_here = any(
                inner.kind in (Kind.VARIABLES, Kind.VARIABLE) and surely_within(it, inner) & asked_for
                for inner in each.inputs
            )
            stack.extend((inner, upstream or trained_here) for inner in each.inputs)
            if each.kind is Kind.CONTAINER:
                stack.extend((inner, upstream) for inner in it.items(each).elements)
    return [it.layer_values[member] for member in sorted(flowing) if _is_layer(it, member)]


def _variables_left(it: Interpreter, asked: Asked) -> list[Variable]:
    """The variables beside the layers that compute the target, and that no gradient is asked for and nothing writes."""
    bits = bits_of(asked)
    found = reach(it, asked.targets, bits) if bits else None
    if found is None or found.opaque or it.assigns_unknown:
        return []
    known = {member for each in it.asked for source in each.sources for member in source.members}
    computing: dict[int, Variable] = {}
    stack, seen = list(asked.targets), set[int]()
    while stack and len(seen) < 3000:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        if each.kind is Kind.VARIABLE and isinstance(each.ref, Variable):
            computing.setdefault(each.ref.id, each.ref)
        elif each.sure & bits or each.how is How.JOIN:
            stack.extend(each.inputs)
        elif each.kind is Kind.CONTAINER:
            stack.extend(it.items(each).elements)
    return [each for each in computing.values() if each.id not in known and _is_to_be_trained(it, each)]


def _is_to_be_trained(it: Interpreter, variable: Variable) -> bool:
    """Whether a variable is made here, trainable, of floats, kept outside of layers, and never written."""
    if variable.trainable is not True or variable.integer or variable.owner is not None or not variable.exact:
        return False
    if variable.escaped_at or variable.id in it.hidden or variable.id in it.assigned or variable.id in it.written_state:
        return False
    name = variable.name or variable.bound
    return bool(name) and not stays_as_it_is(name) and not _is_in_layer(it, variable)


def _is_in_layer(it: Interpreter, variable: Variable) -> bool:
    """Whether a layer or model holds the variable: other rules say what Keras does with it."""
    return any(
        is_keras_family(owner.cls) and any(_is_cell_of(it, key, variable) for key in it.cells_of(owner.id))
        for owner in it.objects.values()
        if isinstance(owner, Instance)
    )


def _is_cell_of(it: Interpreter, key: Key, variable: Variable) -> bool:
    held = it.store.get(key)
    return held is not None and held.ref is variable


def _in_train_step(frame: Frame) -> bool:
    return frame.function is not None and frame.function.name == "train_step" and frame.cls is not None


def _is_layer(it: Interpreter, member: int) -> bool:
    owner = it.objects.get(member)
    return isinstance(owner, Layer) and member in it.layer_values and may_be_part(owner, None) and not owner.part_of


def _is_meant(it: Interpreter, part: Value) -> bool:
    """Whether a part is made to be trained: not frozen, not filled by hand, not fitted, not called otherwise."""
    owner: Layer = part.ref
    if it.store.get((owner.id, "trainable")) is not None or owner.escaped_at or _is_told_elsewhere(it, part):
        return False
    if owner.id in it.written_state or owner.id in it.fitted or stays_as_it_is(_name(it, part)):
        return False
    holders = [
        each for each in it.objects.values() if isinstance(each, Layer) and any(p.ref is owner for p in each.parts)
    ]
    return not any(
        each.id in it.fitted
        or each.id in it.written_state
        or it.store.get((each.id, "trainable")) is not None
        or stays_as_it_is(_written_name(it, each))
        or each.escaped_at
        for each in holders
    )


def _holds(whole: Layer, part: Layer) -> bool:
    return any(each.ref is part for each in whole.parts)


def _is_told_elsewhere(it: Interpreter, part: Value) -> bool:
    """Whether the layer is made anew at each call, or kept where Keras does not look: that is told there."""
    for note in it.notes:
        if note.event is LayerMadeInCall and part.node is not None:
            if note.node is part.node or any(frame.call_node is note.node for frame in _frames(part)):
                return True
    if part.ref.id in it.hidden:
        return True
    return part.serial in it.stored and not is_seen(it, part.ref.id)


def _frames(value: Value) -> list[Frame]:
    return value.frame.callers() if value.frame is not None else []


def _name(it: Interpreter, part: Value) -> str:
    """What the part is called: the attribute or name that holds it, or a model that it is in."""
    for owner in it.objects.values():
        if isinstance(owner, Instance):
            for key in it.cells_of(owner.id):
                held = it.store.get(key)
                if held is not None and held.ref is part.ref and isinstance(key[1], str) and not key[1].startswith("<"):
                    return f"self.{key[1]}"
    for owner in it.objects.values():
        if isinstance(owner, Layer) and any(each.ref is part.ref for each in owner.parts):
            named = _written_name(it, owner)
            if named:
                return named
    named = _written_name(it, part.ref)
    return named or (ast.unparse(part.node)[:60] if isinstance(part.node, ast.expr) else "a layer")


def _written_name(it: Interpreter, owner: Layer) -> str:
    for name in it.module.names.local:
        held = it.store.get((it.module.id, name))
        if held is not None and held.ref is owner:
            return name
    return ""
