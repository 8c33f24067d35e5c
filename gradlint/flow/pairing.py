"""Pairing: whether a list of gradients and a list of variables belong together, place by place."""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.arguments import Arguments
from gradlint.flow.descent import cores_of, gradient_of, key_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import is_keras_family, is_layer_symbol, may_be_part
from gradlint.flow.objects import Instance, Layer, Variable, VariableSet
from gradlint.flow.runs import merged_keys, runs_of
from gradlint.flow.scopes import Frame
from gradlint.flow.update_events import ClipMisused, Mispairing, PairsMismatched
from gradlint.flow.values import How, Kind, Value, lineage
from gradlint.flow.wording import code_of_node
from gradlint.knowledge.conventions import roles_in, stands_for_another
from gradlint.ops import table as ops


def note_zip(it: Interpreter, arguments: Arguments, node: ast.AST) -> None:
    """`zip(gradients, variables)`: note where the two do not belong together."""
    if it.expected or len(arguments.positional) != 2 or not isinstance(node, ast.Call) or len(node.args) != 2:
        return
    left, right = arguments.positional
    for value, written in zip(arguments.positional, node.args, strict=True):
        if value.op is ops.CLIP_BY_GLOBAL_NORM and value.kind is Kind.CONTAINER:
            problem = f"returns (gradients, norm), and `{ast.unparse(written)}` is used as the gradients"
            it.note(ClipMisused, node, "tf.clip_by_global_norm", problem, "InvalidArgumentError")
            return
    gradients, variables = _runs(it, left), _runs(it, right)
    if gradients is None or variables is None or not gradients or not variables:
        return
    texts = [ast.unparse(each) for each in node.args]
    turned = all(gradient_of(each) is not None for each in variables)
    if turned:
        gradients, variables, texts = variables, gradients, texts[::-1]  # for an assignment of one's own
    sources = [gradient_of(each) for each in gradients]
    if any(source is None for source in sources) or not all(_is_variable_like(each) for each in variables):
        return
    asked = merged_keys([key_of(source) for source in sources if source is not None])
    met = merged_keys([key_of(each) for each in variables])
    found = _compare(asked, met)
    if found is None and not turned and len(asked) > len(met) and asked[: len(met)] == met:
        _note_unapplied(it, gradients[len(variables) :], texts, node)
    if found is Mispairing.OTHER and len(variables) == 1:
        found = _compare_parts(it, asked, variables[0])
    if found is None or (turned and found is not Mispairing.REORDERED):
        return  # what gradients are added to or kept in has no gradients of its own
    known = [source for source in sources if source is not None]
    confused = found is Mispairing.OTHER and _loss_reads(gradients, variables)
    nodes = [ast.unparse(each.node) for each in (*known, *variables) if isinstance(each.node, ast.expr)]
    if found is Mispairing.OTHER and not confused and stands_for_another(" ".join([*texts, *nodes])):
        return
    certain = found is not Mispairing.TRUNCATED and (found is not Mispairing.OTHER or _surely_differ(known, variables))
    holds = _others_differ(it, known, variables, confused=confused) if found is Mispairing.OTHER else None
    at: ast.AST = node
    frame = it.frame
    if found is Mispairing.OTHER:
        at, frame = _where_they_meet(it, [*known, *variables], node)
    if at is not node:
        texts[1] = code_of_node(variables[0].node) or texts[1]
    it.note(PairsMismatched, at, found, *texts, certain=certain, holds=holds, frame=frame)


def _where_they_meet(it: Interpreter, values: list[Value], node: ast.AST) -> tuple[ast.AST, Frame]:
    """Where both lists came together: in this function, or in the call that handed both of them in."""
    chain = it.frame.callers()
    depths = [chain.index(each.frame) for each in values if each.frame in chain]
    if len(depths) < len(values) or min(depths) == 0:
        return node, it.frame
    called = chain[min(depths) - 1].call_node
    return (node, it.frame) if called is None else (called, chain[min(depths)])


def _note_unapplied(it: Interpreter, left: list[Value], texts: list[str], node: ast.AST) -> None:
    """Gradients at the end of a list meet no variable, and nothing else is done with them."""
    sources = [gradient_of(each) for each in left]
    serials = set().union(*(cores_of(each) for each in left))
    members = set().union(*(_members(each) for each in sources if each is not None))
    if not serials or not all(each is not None and _is_trained(each) for each in sources):
        return

    def holds() -> bool:
        used = any(serials & cores_of(applied) for applied in it.applied)
        return not used and not any(it.written_state.get(member) for member in members)

    it.note(PairsMismatched, node, Mispairing.UNAPPLIED, *texts, certain=False, holds=holds)


def _is_trained(source: Value) -> bool:
    ref = source.ref
    if isinstance(ref, VariableSet):
        return ref.attribute.startswith("trainable") and not isinstance(ref.owner, Value)
    return isinstance(ref, Variable) and ref.exact and ref.trainable is True


def _runs(it: Interpreter, value: Value) -> list[Value] | None:
    runs = runs_of(it, value)
    if runs is None and value.kind is Kind.UNKNOWN and value.how in (How.GRADIENT, How.PART, How.PARAMETER):
        return [value]
    return runs


def _is_variable_like(value: Value) -> bool:
    return value.kind in (Kind.VARIABLE, Kind.VARIABLES) or (value.is_opaque and value.kind is Kind.UNKNOWN)


def _compare(asked: list[object], met: list[object]) -> Mispairing | None:
    if asked == met or asked[: len(met)] == met:
        return None
    if len(asked) < len(met) and met[: len(asked)] == asked:
        return Mispairing.TRUNCATED
    if any(isinstance(key, tuple) and key[0] in ("value", "one of") for key in (*asked, *met)):
        return None  # not known which
    if len(asked) == len(met) == 1 and _is_same_owner(asked[0], met[0]):
        return None  # `trainable_variables` and `variables`: the same, unless some are not trainable
    if all(isinstance(key, tuple) and key[0] == "variable" for key in (*asked, *met)) and set(asked) <= set(met):
        return Mispairing.REORDERED
    wholes = [[key[:3] if isinstance(key, tuple) else key for key in keys] for keys in (asked, met)]
    if set(map(repr, wholes[0])) == set(map(repr, wholes[1])):
        return _compare_bounds(asked, met)
    return Mispairing.OTHER


def _compare_parts(it: Interpreter, asked: list[object], whole: Value) -> Mispairing | None:
    """The same for the set of a model, whose layers are known in their order."""
    parts = _layers_in_order(it, whole)
    if sorted(map(repr, parts)) != sorted(map(repr, asked)):
        return Mispairing.OTHER
    return None if parts == asked else Mispairing.REORDERED


def _layers_in_order(it: Interpreter, whole: Value) -> list[object]:
    """Keys of the sets of the layers that a model holds, in the order of its variables; empty where not known."""
    ref = whole.ref
    if not isinstance(ref, VariableSet) or ref.bounds is not None or ref.open_members:
        return []
    if isinstance(ref.owner, Layer) and ref.owner.sequence is not None:
        held = list(ref.owner.sequence)
    elif isinstance(ref.owner, Instance) and is_keras_family(ref.owner.cls):
        cells = [it.store.get(key) for key in it.cells_of(ref.owner.id)]
        held = [each for each in cells if each is not None and each.kind not in (Kind.LITERAL, Kind.PLAIN)]
    else:
        return []
    if not all(each.kind is Kind.LAYER and not each.ref.parts and not each.ref.open_parts for each in held):
        return []
    named = "trainable" if ref.attribute.startswith("trainable") else ref.attribute.replace("weights", "variables")
    return [("set", ("object", each.ref.id), named, None) for each in held if may_be_part(each.ref, None)]


def _is_same_owner(asked: object, met: object) -> bool:
    return isinstance(asked, tuple) and isinstance(met, tuple) and asked[:2] == met[:2] and asked[2] != met[2]


def _compare_bounds(asked: list[object], met: list[object]) -> Mispairing | None:
    if len(asked) != 1 or len(met) != 1:
        return Mispairing.REORDERED
    (a,), (b,) = asked, met
    if not isinstance(a, tuple) or not isinstance(b, tuple) or len(a) < 4:
        return None
    starts = [(bounds or (None, None, None)) for bounds in (a[3], b[3])]
    if starts[0][0] == starts[1][0] and starts[0][2] == starts[1][2]:
        return Mispairing.TRUNCATED if b[3] is None else None
    return Mispairing.REORDERED


def _may_overlap(sources: list[Value], variables: list[Value]) -> bool:
    """Whether both hold some of the same variables, by way of other owners, or networks that are built alike."""
    if _shared_members(sources, variables):
        return True
    owners = [[_owner(each) for each in values] for values in (sources, variables)]
    known = all(isinstance(each, Layer | Instance) for row in owners for each in row)
    if _roles_differ(sources, variables):
        return False
    return known and [_build_of(each) for each in owners[0]] == [_build_of(each) for each in owners[1]]


def _shared_members(sources: list[Value], variables: list[Value]) -> set[int]:
    held = [{member for each in values for member in _members(each)} for values in (sources, variables)]
    return held[0] & held[1]


def _loss_reads(gradients: list[Value], variables: list[Value], most: int = 600) -> bool:
    """Whether the loss depends on the variables too, which then have gradients of their own."""
    wanted = {member for each in variables for member in _members(each)}
    targets = [target for each in gradients for target in _targets(each)]
    return any(wanted & _members(each) for each in lineage(targets, most, lambda each: each.inputs))


def _targets(gradient: Value, depth: int = 0) -> list[Value]:
    """What a gradient is the gradient of the loss of."""
    if gradient.how is How.GRADIENT:
        return list(gradient.inputs[:1])
    inner = gradient.operands or gradient.inputs
    return [found for each in inner[:2] for found in _targets(each, depth + 1)] if depth < 8 else []


def _members(value: Value) -> set[int]:
    ref = value.ref
    if isinstance(ref, VariableSet):
        return set(ref.members)
    return {ref.id} if isinstance(ref, Variable) else set()


def _owner(value: Value) -> object:
    ref = value.ref
    return ref.owner if isinstance(ref, VariableSet) else ref


def _surely_differ(sources: list[Value], variables: list[Value]) -> bool:
    """Whether the variables belong to objects made in sight that are built differently."""
    owners = [_owner(each) for each in (*sources, *variables)]
    if not all(isinstance(each, Layer | Instance) for each in owners):
        return False
    return len({_build_of(each) for each in owners}) == len(owners)


def _are_made_in_sight(sources: list[Value], variables: list[Value]) -> bool:
    """Whether both belong to objects that the program makes, so that different ones are known to be different."""
    owners = [[_owner(each) for each in values] for values in (sources, variables)]
    known = [each for row in owners for each in row if isinstance(each, Layer | Instance)]
    return len(known) == len(sources) + len(variables) and not any(
        isinstance(each, Instance) and each.open_self for each in known
    )


def _build_of(owner: object) -> object:
    if isinstance(owner, Instance):
        return owner.cls.id
    assert isinstance(owner, Layer)
    if owner.sequence is not None:
        return tuple(
            ast.unparse(each.node) if is_layer_symbol(getattr(each.ref, "symbol", "")) and each.node is not None else ""
            for each in owner.sequence
        )
    return owner.symbol if owner.outputs is None else owner.id


def _roles_differ(sources: list[Value], variables: list[Value]) -> bool:
    """Whether both are written as variables of something, and the two play different parts by name."""
    found = [_role(each) for each in (sources, variables)]
    return "" not in found and found[0] != found[1]


def _role(values: list[Value]) -> str:
    node = values[0].node if len(values) == 1 and values[0].kind is Kind.VARIABLES else None
    roles = roles_in(ast.unparse(node)) if isinstance(node, ast.Attribute) else []
    return roles[0] if len(roles) == 1 else ""


def _others_differ(
    it: Interpreter, sources: list[Value], variables: list[Value], *, confused: bool
) -> Callable[[], bool]:
    """Whether the variables are of something else: surely so, or their own gradients are asked in this function."""
    frame = it.frame

    def holds() -> bool:
        if confused:
            return not _shared_members(sources, variables)
        if _shared_members(sources, variables):
            return False
        wanted = {repr(key_of(each)) for each in variables}
        around = {each.names for each in frame.callers()}
        asked_here = any(
            wanted & {repr(key_of(source.value)) for source in asked.sources} and asked.frame.names in around
            for asked in it.asked
        )
        if asked_here and _are_made_in_sight(sources, variables):
            return True
        if _may_overlap(sources, variables):
            return False
        return asked_here or _surely_differ(sources, variables) or _roles_differ(sources, variables)

    return holds
