"""Life cycle: optimizers made too often, shared, or called as Keras 3 does not know them; lists that are empty."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradlint.flow.accumulation import judge_accumulators, judge_repeated
from gradlint.flow.arguments import name_called
from gradlint.flow.descent import key_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import is_keras_set, is_model_family, may_be_part, members_of, part_name, some_variable
from gradlint.flow.objects import HeapObject, Instance, Layer, LibraryObject, Variable, VariableSet
from gradlint.flow.optimizers import Pair, is_optimizer, measured_optimizer, settings_of, shown, unwrapped
from gradlint.flow.scopes import Frame
from gradlint.flow.tracing import trainable_state
from gradlint.flow.update_events import (
    Freezing,
    FreezingIgnored,
    FrozenModelTrained,
    MinimizeCalled,
    OptimizerRemade,
    OptimizerShared,
    RateIsVariable,
    RateRenamed,
    VariablesMissing,
)
from gradlint.flow.values import How, Kind, Value, alternatives, constants, lineage
from gradlint.knowledge.conventions import is_run_per_batch

if TYPE_CHECKING:
    from gradlint.flow.asking import Asked


@dataclass(frozen=True, slots=True)
class Built:
    """What an optimizer was built with: the variables of its first update."""

    members: frozenset[int]
    keys: frozenset[str]
    text: str
    node: ast.AST
    open: bool
    frame: object = None


def judge_optimizer(it: Interpreter, optimizer: Value, pairs: list[Pair], node: ast.AST) -> None:
    """What an optimizer is, at the moment when it is applied."""
    if it.expected or not pairs:
        return
    _judge_lists(it, pairs, node)
    judge_accumulators(it, pairs, node)
    judge_repeated(it, pairs, node)
    if is_optimizer(optimizer):
        _judge_remade(it, optimizer, pairs, node)
        _judge_shared(it, optimizer, pairs, node)


def _judge_remade(it: Interpreter, optimizer: Value, pairs: list[Pair], node: ast.AST) -> None:
    owner: LibraryObject = unwrapped(optimizer).ref
    known = it.made_in.get(owner.id)
    made_at = unwrapped(optimizer).node
    if known is None or made_at is None or unwrapped(optimizer).serial in it.held:
        return
    turn, frame = known
    if _is_guarded(frame.function.node if frame.function is not None else it.tree, made_at):
        return
    if frame.graph and it.frame.graph:
        it.note(OptimizerRemade, _seen_from(it, frame, made_at), shown(optimizer), True)
        return
    row = measured_optimizer(it, optimizer)
    if row is None or (row.name == "SGD" and not row.moves(settings_of(it, optimizer, row), late=True)):
        return  # it remembers nothing
    older = all(_id_of(pair.variable) < it.turn for pair in pairs)
    if any(_is_set_anew(it, pair.variable) for pair in pairs):
        return  # each turn begins from the same weights
    if (it.turn and turn == it.turn and older and not it.frame.graph) or (
        it.open_code
        and not turn
        and not it.turn
        and is_run_per_batch(frame.name)
        and frame.name != "<module>"
        and all(_outlives_call(it, pair.variable) for pair in pairs)
    ):
        it.note(OptimizerRemade, _seen_from(it, frame, made_at), shown(optimizer), False, certain=False)


def _seen_from(it: Interpreter, frame: Frame, made_at: ast.AST) -> ast.AST:
    """Where the step makes it: the call of a helper, or the constructor itself."""
    node, each = made_at, frame
    here = it.frame.callers()
    while each not in here and each.call_node is not None and each.caller is not None:
        node, each = each.call_node, each.caller
    return node


def _is_set_anew(it: Interpreter, variable: Value) -> bool:
    """Whether the variables were assigned to in this turn of the loop."""
    ref = variable.ref
    owners: set[int] = set()
    if isinstance(ref, Variable):
        owners = {ref.id, *(ref.within.members if ref.within is not None else ())}
    return any(stored.serial > it.turn_clock for owner in owners for stored in it.written_state.get(owner, ()))


def _outlives_call(it: Interpreter, variable: Value) -> bool:
    """Whether a variable was there before the function was called: what is made in it is trained once."""
    if variable.how is How.OPAQUE_CALL:
        return False
    made = it.value_of.get(variable.ref.id, variable) if isinstance(variable.ref, Variable) else None
    return made is None or made.frame is None or made.frame.is_module or made.frame not in it.frame.callers()


def _id_of(variable: Value) -> int:
    ref = variable.ref
    if isinstance(ref, Variable):
        return ref.owner.id if not ref.exact and isinstance(ref.owner, HeapObject) else ref.id
    return 0 if variable.is_opaque else 1 << 60


def _is_guarded(scope: ast.AST, made_at: ast.AST) -> bool:
    """Whether it is made under an `if`: once."""
    return any(
        isinstance(each, ast.If) and any(inner is made_at for inner in ast.walk(each)) for each in ast.walk(scope)
    )


def _judge_shared(it: Interpreter, optimizer: Value, pairs: list[Pair], node: ast.AST, written: str = "") -> None:
    """Optimizers of Keras 3 know the variables of their first update, and no others."""
    row = measured_optimizer(it, optimizer)
    if row is None or not row.unknown_variable_raises or it.joined or it.choosing:
        return
    owner: LibraryObject = unwrapped(optimizer).ref
    members, keys, open_ = _given(it, [pair.variable for pair in pairs])
    text = written or _list_text(node)
    built = it.built_with.get(owner.id)
    if built is None:
        if members or keys:
            it.built_with[owner.id] = Built(members, keys, text, node, open_, it.frame.function)
        return
    if built.open or open_ or (built.members & members == members and keys <= built.keys):
        return
    new = members - built.members
    if members and built.members and new and not keys and not built.keys:
        certain = it.doubt == 0 and not it.open_code
        it.note(
            OptimizerShared, node, shown(optimizer), built.text, text, certain=certain,
            steps=(("built here", built.node),),
        )  # fmt: skip
        if certain:
            it.alive = False  # it raises
    elif keys and built.keys and not keys & built.keys and not members and not built.members:
        if (_are_named(built, text) and built.frame is it.frame.function) or _are_attributes(keys | built.keys):
            steps = (("built here", built.node),)
            it.note(OptimizerShared, node, shown(optimizer), built.text, text, certain=False, steps=steps)


def _are_attributes(keys: frozenset[str]) -> bool:
    """Whether all are sets of attributes of an object whose class is in sight."""
    return all(key.startswith("('set', ('unknown', '<self") for key in keys)


def _are_named(built: Built, text: str) -> bool:
    """Whether both lists are written as sets of two different objects."""
    endings = (".trainable_variables", ".trainable_weights")
    return text != built.text and text.endswith(endings) and built.text.endswith(endings)


def note_compiled(it: Interpreter, model: HeapObject) -> None:
    """`compile`: Keras 2 keeps what is trainable now, until the model is compiled again."""
    it.store.set((model.id, "<trainable when compiled>"), it.store.get((model.id, "trainable")))


def _is_trained_frozen(it: Interpreter, model: int) -> bool:
    cell = it.store.get((model, "trainable" if it.keras_3 else "<trainable when compiled>"))
    return cell is not None and constants(cell) == {False}


def judge_fit(it: Interpreter, model: Value, optimizer: Value | None, variables: Value, node: ast.AST) -> None:
    """`fit` builds the compiled optimizer with what is trainable now; and trains nothing of a frozen model."""
    if it.expected or it.choosing or not isinstance(model.ref, HeapObject) or not isinstance(node, ast.Call):
        return
    if name_called(node) == "compile" or model.ref.id in it.fits:
        return  # judged as if it were fitted, which nothing in the file does
    text = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else "the model"
    if _is_trained_frozen(it, model.ref.id):
        method = node.func.attr if isinstance(node.func, ast.Attribute) else "fit"
        it.note(FrozenModelTrained, node, text, method, not it.keras_3, certain=False)
        return
    if optimizer is not None and is_optimizer(optimizer):
        one = some_variable(it, variables, node)
        _judge_shared(it, optimizer, [Pair(one, one)], node, f"{text}.trainable_variables")


def _given(it: Interpreter, variables: list[Value]) -> tuple[frozenset[int], frozenset[str], bool]:
    """Ids of what surely has variables and is trainable, or keys of what is not known; whether there may be more."""
    members: set[int] = set()
    keys: set[str] = set()
    open_ = False
    for variable in variables:
        for way in alternatives(variable, 8) or ():
            ref = way.ref
            if isinstance(ref, Variable) and ref.exact:
                key = key_of(way)
                assert isinstance(key, tuple)
                members.add(key[1])
            elif isinstance(ref, Variable) and ref.within is not None:
                within = ref.within
                open_ = open_ or within.open_members
                in_keras = it.keras_3 and is_keras_set(within)
                members |= {each for each in within.members - within.frozen if _has_variables(it, each, in_keras)}
            elif way.is_opaque:
                keys.add(repr(key_of(way.inputs[0] if way.how is How.PART and way.inputs else way)))
            else:
                open_ = True
    return frozenset(members), frozenset(keys), open_ or bool(members and keys)


def _has_variables(it: Interpreter, member: int, in_keras: bool) -> bool:
    """Whether an object inside an owner surely is, or has, trainable variables that the owner lists."""
    each = it.objects.get(member)
    if isinstance(each, Variable):
        return each.trainable is True and (each.keras or not in_keras)
    return isinstance(each, Layer) and not each.parts and each.sequence is None and may_be_part(each, None)


def _list_text(node: ast.AST) -> str:
    """The list of variables as it is written in the call."""
    if not isinstance(node, ast.Call) or not node.args:
        return "these variables"
    first: ast.expr = node.args[-1] if len(node.args) > 1 else node.args[0]
    if isinstance(first, ast.Call) and len(first.args) == 2:
        first = first.args[1]
    return ast.unparse(first) if isinstance(first, ast.Name | ast.Attribute) else "these variables"


def note_build(it: Interpreter, optimizer: Value) -> None:
    """`optimizer.build(variables)`: what it knows from now on is the author's choice."""
    if is_optimizer(optimizer):
        it.built_with[unwrapped(optimizer).ref.id] = Built(frozenset(), frozenset(), "", ast.Pass(), True)


def _judge_lists(it: Interpreter, pairs: list[Pair], node: ast.AST) -> None:
    """Lists of variables that were read before something was frozen, or that hold frozen ones by nature."""
    for pair in pairs:
        for way in alternatives(pair.variable, 4) or ():
            ref = way.ref
            within = ref.within if isinstance(ref, Variable) else None
            if isinstance(within, VariableSet) and isinstance(within.owner, HeapObject):
                if not _is_frozen_for_others(it, within, pairs):
                    _judge_set(it, within, way, node)
            elif way.root is not None and way.root.label == "watched_variables":
                _judge_watched(it, pair.gradient, node)


def _is_frozen_for_others(it: Interpreter, within: VariableSet, pairs: list[Pair]) -> bool:
    """Whether a network is trained by a step of its own that was frozen as a whole, for a model around it."""
    owner = within.owner
    assert isinstance(owner, HeapObject)
    if trainable_state(it, owner.id) is not False or not any(owner.id in each.members for each in it.trainable_sets):
        return False
    for pair in pairs:
        ref = pair.variable.ref
        if not isinstance(ref, Variable) or ref.within is None or ref.within.owner is not owner:
            return False
    others = [each for each in it.objects.values() if each is not owner and _is_model(each)]
    return any(owner.id in members_of(it, each)[0] for each in others)


def _is_model(owner: HeapObject) -> bool:
    if isinstance(owner, Instance):
        return is_model_family(owner.cls)
    return isinstance(owner, Layer) and (owner.outputs is not None or bool(owner.parts))


def _judge_set(it: Interpreter, within: VariableSet, variable: Value, node: ast.AST) -> None:
    if within.bounds is not None:
        return  # cut by place: perhaps so that the frozen ones are out of it
    since = within.captured
    every = not within.attribute.startswith("trainable")
    if every and it.relevance.reads_trainable:
        return  # the file picks them by their own flag
    for each in reversed(it.trainable_sets):
        touched = each.members & within.members
        if each.value is True and each.serial > since and not every and touched & within.frozen:
            if all(trainable_state(it, member) is True for member in touched & within.frozen):
                steps = ((f"`{each.name}.trainable` set here", each.node),)
                detail = _list_text(node)
                it.note(FreezingIgnored, node, Freezing.CAPTURED, each.name, False, detail, certain=False, steps=steps)
                return
        if not touched or each.value is not False:
            continue
        if not all(trainable_state(it, member) is False for member in touched):
            continue
        if every or each.serial > since:
            freezing = Freezing.EVERY if every else Freezing.CAPTURED
            steps = ((f"`{each.name}.trainable` set here", each.node),)
            it.note(FreezingIgnored, node, freezing, each.name, True, _list_text(node), certain=False, steps=steps)
            return


def _judge_watched(it: Interpreter, gradient: Value, node: ast.AST) -> None:
    """`tape.watched_variables()` holds the variables of frozen layers too."""

    def behind(each: Value) -> tuple[Value, ...]:
        return each.inputs if each.how is not How.OPERATION or each.possible else ()  # not recorded, so not watched

    sets = [each.ref for each in lineage([gradient], 400, behind) if isinstance(each.ref, VariableSet)]
    read = {member for each in sets for member in each.members}
    for done in reversed(it.trainable_sets):
        if done.value is False and done.members & read:
            if all(trainable_state(it, member) is False for member in done.members & read):
                steps = ((f"`{done.name}.trainable` set here", done.node),)
                it.note(
                    FreezingIgnored,
                    node,
                    Freezing.WATCHED,
                    done.name,
                    True,
                    "tape.watched_variables()",
                    certain=False,
                    steps=steps,
                )
                return


def note_minimize(it: Interpreter, optimizer: Value, node: ast.AST) -> bool:
    """`optimizer.minimize(...)`; True when it surely raises."""
    row = measured_optimizer(it, optimizer)
    if it.expected or row is None or row.has_minimize:
        return False
    it.note(MinimizeCalled, node, shown(optimizer))
    return True


def note_rate(it: Interpreter, optimizer: Value, node: ast.AST, value: ast.AST | None, raises: str) -> None:
    """`optimizer.lr`."""
    if it.expected or not it.keras_3 or (is_optimizer(optimizer) and ".legacy." in optimizer.ref.symbol):
        return
    it.note(
        RateRenamed,
        node,
        shown(optimizer),
        raises,
        ast.unparse(value) if value is not None else "",
    )


def note_constructor(it: Interpreter, made: Value, node: ast.AST) -> None:
    """An optimizer is made: remember in which turn of which loop, and whether it is given `lr`."""
    owner: LibraryObject = made.ref
    it.made_in[owner.id] = (it.turn, it.frame)
    rate = owner.keyword("learning_rate") or next(iter(owner.arguments), None)
    if rate is not None and rate.kind is Kind.VARIABLE and it.keras_3 and not it.expected:
        if ".legacy." not in owner.symbol and isinstance(rate.ref, Variable) and not rate.ref.keras:
            it.note(RateIsVariable, node, shown(made))
    if owner.keyword("lr") is not None and it.keras_3 and not it.expected and ".legacy." not in owner.symbol:
        it.note(RateRenamed, node, shown(made), "ValueError", "")


def note_missing(it: Interpreter, sources: Value, node: ast.AST, text: str) -> None:
    """A list of variables is asked for gradients that was read before the model had any."""
    asked = sources.ref if sources.kind is Kind.VARIABLES else getattr(sources.ref, "within", None)
    if it.expected or not isinstance(asked, VariableSet) or asked.unbuilt is None:
        return
    steps = ((f"`{ast.unparse(asked.unbuilt)}` read here", asked.unbuilt),)
    late = frozenset(each for each in asked.late if it.store.get((each, "<built>")) is not None)
    if asked.late:
        if late and asked.bounds is None:
            names = "` and `".join(dict.fromkeys(part_name(it, asked.owner, each) for each in sorted(late)))
            it.note(
                VariablesMissing, node, text, names, certain=False, steps=steps,
                holds=lambda: not any(_lists_later(each, late) for each in it.asked),
            )  # fmt: skip
        return
    owner = asked.owner
    built = isinstance(owner, HeapObject) and it.store.get((owner.id, "<built>")) is not None
    if built:
        it.note(VariablesMissing, node, text, "", steps=steps)


def _lists_later(asked: Asked, late: frozenset[int]) -> bool:
    """Whether a gradient is asked for layers in a list that was read once they had variables."""
    return any(
        source.members & late and not (source.value.kind is Kind.VARIABLES and source.value.ref.late & late)
        for source in asked.sources
        if not source.within
    )
