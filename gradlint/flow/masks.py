"""Masks: what moves entries whose gradient is multiplied by zero, and masks that miss what they are for."""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.constants import is_comparison, mask_states
from gradlint.flow.descent import (
    PRODUCTS,
    Factor,
    cores_of,
    depends_on,
    factors_of,
    gradient_of,
    is_zeroed,
    key_of,
    terms_of,
)
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import HeapObject, Layer, Variable, VariableSet
from gradlint.flow.optimizers import Pair, is_optimizer, measured_optimizer, settings_of, shown, unwrapped
from gradlint.flow.shapes import Shape, broadcast
from gradlint.flow.timing import is_timed
from gradlint.flow.update_events import (
    GradientBroadcast,
    LateMaskMoved,
    MaskBroadcast,
    MaskBypassed,
    MaskedMoved,
    MaskMisplaced,
)
from gradlint.flow.values import Fill, How, Kind, Value, alternatives, lineage, numbers_behind
from gradlint.flow.wording import operand_nodes
from gradlint.ops.op import Role

_EVER = frozenset({Fill.MASK, Fill.ZEROS})
_RANDOM = ("tf.random.", "keras.random.", "np.random.", "random.")


def judge_pair(it: Interpreter, optimizer: Value, pair: Pair, node: ast.AST) -> None:
    """A gradient is applied by an optimizer: what its mask does, and what is done in spite of it."""
    _judge_shape(it, optimizer, pair, node)
    name = variable_text(pair.variable)
    bypassed = next((found for way in _ways(pair.gradient) if (found := bypassing_term(it, way, pair.variable))), None)
    if bypassed is not None:
        mask, at = bypassed
        it.note(MaskBypassed, at, mask, name)
        return
    masks = [factor for way in _ways(pair.gradient) for factor in factors_of(way) if mask_states(it, factor.value)]
    _judge_meaning(it, pair, masks, node)
    if masks and not _starts_masked(it, pair.variable):
        text = _text_of(masks[0].value, masks[0].at)
        key = key_of(pair.variable)
        it.note(MaskBypassed, node, text, name, holds=lambda: key in it.decayed)
    if is_optimizer(optimizer):
        _judge_moved(it, optimizer, pair, [factor.value for factor in masks], node)


def _ways(value: Value) -> list[Value]:
    return alternatives(value, 4) or []


def _judge_moved(it: Interpreter, optimizer: Value, pair: Pair, masks: list[Value], node: ast.AST) -> None:
    state = frozenset(fill for mask in masks for fill in mask_states(it, mask)) or frozenset({Fill.ONES})
    if len(_ways(pair.gradient)) > 1 and any(not list(factors_of(way)) for way in _ways(pair.gradient)):
        state |= {Fill.ONES}
    held, key = unwrapped(optimizer).ref.id, key_of(pair.variable)
    history = it.mask_history.setdefault((held, key), [])
    whole = (
        it.mask_history.get((held, ("one of", key[1][1], None)), [])
        if isinstance(key, tuple) and key[0] == "set"
        else []
    )
    began_before = any(Fill.ONES in before and not before & _EVER for before in (*history, *whole))
    history.append(state)
    row = measured_optimizer(it, optimizer)
    if row is None:
        return
    if not state & _EVER:
        _note_later(it, optimizer, pair, masks, node)
        return
    anew = [mask for mask in masks if not _is_kept(it, mask) and not is_zeroed(mask)]
    if any(_is_drawn(mask) or _holds_gradient(mask) for mask in anew):
        return  # drawn or computed for this step alone
    computed = any(depends_on(mask, pair.variable) for mask in anew)
    timed = len(state) > 1 and any(is_timed(it, each) for each in (*masks, *_ways(pair.gradient)))
    late = began_before or timed or computed
    features = _features(it, optimizer, pair.variable, late=late)
    if not late and _starts_masked(it, pair.variable):
        return  # zero stays zero, whatever decays it
    if not features or (late and it.store.get((unwrapped(optimizer).ref.id, "<slots read>")) is not None):
        return
    name, certain = variable_text(pair.variable), it.doubt == 0 and not computed and len(state) == 1
    certain = certain and features != ("constraint",)
    kept = _is_never_written_after(it, pair.variable, it.clock)
    if late:
        certain = certain or (it.doubt == 0 and timed and not it.open_code)
        alone = _is_not_told_otherwise(it, node, name)
        it.note(
            LateMaskMoved, node, name, shown(optimizer), features, computed, certain=certain,
            holds=lambda: kept() and alone(),
        )  # fmt: skip
    else:
        it.note(MaskedMoved, node, name, shown(optimizer), features, certain=certain, holds=kept)


def _note_later(it: Interpreter, optimizer: Value, pair: Pair, masks: list[Value], node: ast.AST) -> None:
    """A mask that is a variable of ones, and that something in the file writes a mask into."""
    held = {mask.ref.id for mask in masks if isinstance(mask.ref, Variable)}
    features = _features(it, optimizer, pair.variable, late=True) if held else ()
    if features:
        unwritten = _is_never_written_after(it, pair.variable, it.clock)
        it.note(
            LateMaskMoved, node, variable_text(pair.variable), shown(optimizer), features, False, certain=False,
            holds=lambda: bool(held & it.mask_written) and unwritten(),
        )  # fmt: skip


def _features(it: Interpreter, optimizer: Value, variable: Value, *, late: bool) -> tuple[str, ...]:
    """What of the optimizer and of the variable moves masked entries."""
    row = measured_optimizer(it, optimizer)
    if row is None:
        return ()
    features = row.moves(settings_of(it, optimizer, row), late=late)
    if it.store.get((unwrapped(optimizer).ref.id, "<excluded>")) is not None:
        features = tuple(each for each in features if each != "weight_decay")
    return (*features, "constraint") if row.constraint_moves and _is_constrained(it, variable) else features


def _is_kept(it: Interpreter, mask: Value) -> bool:
    """Whether a mask was made before the running step: it is the same in every step."""
    return mask.serial < it.turn_clock


def _starts_masked(it: Interpreter, variable: Value) -> bool:
    """Whether the masked entries were zero from the start: the variable was multiplied by a mask."""
    key = key_of(variable)
    if any(key_of(each) == key for each in it.meant_for.values()):
        return True
    return any(
        way.op.role in PRODUCTS and any(mask_states(it, side) & _EVER for side in way.operands)
        for way, _ in variable.dead
    )


def _is_drawn(mask: Value, most: int = 40) -> bool:
    """Whether a mask is drawn at random."""
    behind = lineage([mask], most, numbers_behind)
    return any(each.op.role is Role.DRAW or each.label.startswith(_RANDOM) for each in behind)


def _holds_gradient(mask: Value, most: int = 40) -> bool:
    """Whether the numbers of a mask were computed from a gradient."""
    return any(each.how is How.GRADIENT for each in lineage([mask], most, numbers_behind))


def _is_never_written_after(it: Interpreter, variable: Value, since: int) -> Callable[[], bool]:
    """Whether nothing writes the variable after the update: a mask on the weights, or a snapshot."""

    def holds() -> bool:
        return not any(
            stored.serial > since for owner in _owners(variable) for stored in it.written_state.get(owner, ())
        )

    return holds


def _is_not_told_otherwise(it: Interpreter, node: ast.AST, name: str) -> Callable[[], bool]:
    """Whether entries of the variable are not known to move here from the start: then that is what is to be said."""

    def holds() -> bool:
        return not any(note.event is MaskedMoved and note.node is node and note.detail[0] == name for note in it.notes)

    return holds


def _owners(variable: Value) -> set[int]:
    """Ids under which writes to a variable are remembered: its own, its layer's, those of the set that it is one of."""
    found: set[int] = set()
    ref = variable.ref
    if isinstance(ref, Variable):
        found.add(ref.id)
        if isinstance(ref.owner, HeapObject):
            found.add(ref.owner.id)
        if ref.within is not None:
            found |= ref.within.members
    return found


def bypassing_term(it: Interpreter, gradient: Value, variable: Value) -> tuple[str, ast.AST] | None:
    """The mask that a term of a sum goes round, and the sum: some other term is masked and this one is not."""
    terms = terms_of(gradient)
    if len(terms) < 2:
        return None
    masked = [term for term in terms if _is_masked(it, term) and gradient_of(term) is not None]
    source = gradient_of(masked[0]) if masked else None
    if source is None:
        return None
    others = [term for term in terms if not _is_masked(it, term)]
    if any(cores_of(term) & cores_of(masked[0]) for term in others):
        return None  # two rates for one and the same gradient
    found = [each for each in factors_of(masked[0]) if mask_states(it, each.value) & _EVER]
    if not found:
        return None  # masked in the forward pass
    factor, mask = found[0], found[0].value
    if _holds_gradient(mask):
        return None  # it says where two gradients agree: nothing is meant to stay
    if not any(
        depends_on(term, variable) or depends_on(term, source) or _is_of_part(term, source) or _is_drawn(term)
        for term in others
    ):
        return None
    return _text_of(factor.value, factor.at), gradient.node or ast.Pass()


def _is_of_part(term: Value, source: Value) -> bool:
    """Whether a term is the gradient of one of the variables of a set."""
    found = gradient_of(term)
    if found is None or not isinstance(source.ref, VariableSet) or not isinstance(found.ref, Variable):
        return False
    owner = found.ref.owner
    return bool({found.ref.id, owner.id if isinstance(owner, HeapObject) else 0} & source.ref.members)


def _is_masked(it: Interpreter, term: Value) -> bool:
    if is_zeroed(term):
        return False  # where a sum begins
    if any(mask_states(it, factor.value) & _EVER for factor in factors_of(term)):
        return True
    if any(mask_states(it, factor) & _EVER for factor in _flat_factors(term)):
        return True
    return term.how is How.GRADIENT and bool(term.inputs) and _masks_inside(it, term.inputs[0])


def _masks_inside(it: Interpreter, target: Value, most: int = 200) -> bool:
    """Whether a target was computed from a masked variable, so that its gradient is masked already."""
    return any(
        each.op.role in PRODUCTS and any(mask_states(it, side) & _EVER for side in each.operands)
        for each in lineage([target], most, lambda each: each.inputs)
    )


def _judge_meaning(it: Interpreter, pair: Pair, masks: list[Factor], node: ast.AST) -> None:
    """A mask that was made for another variable."""
    ref = pair.variable.ref
    if not isinstance(ref, Variable) or not ref.exact or it.expected:
        return
    for factor in masks:
        meant = it.meant_for.get(factor.value.serial) or meant_for(factor.value)
        if meant is not None and isinstance(meant.ref, Variable) and meant.ref.exact:
            if key_of(meant) != key_of(pair.variable):
                text = _text_of(factor.value, factor.at)
                names = (variable_text(meant), variable_text(pair.variable))
                it.note(MaskMisplaced, factor.at.node or node, text, *names, certain=False)
                return


def meant_for(mask: Value, depth: int = 0) -> Value | None:
    """The variable that an array was made in the shape of."""
    if depth > 5 or is_comparison(mask):
        return None
    for each in mask.operands:
        if each.kind is Kind.VARIABLE:
            return each
        found = meant_for(each, depth + 1)
        if found is not None:
            return found
    return None


def note_weights_masked(it: Interpreter, variable: Value, name: str, written: Value) -> None:
    """`v.assign(v * mask)`: the mask is made for this variable. `v.assign_sub(rate * v)`: it decays, mask or not."""
    key = key_of(variable)
    if written.op.role not in PRODUCTS or written.how is not How.OPERATION:
        return
    factors = _flat_factors(written)
    if not any(key_of(each) == key for each in factors):
        return
    masks = [each for each in factors if mask_states(it, each)]
    if name == "assign":
        for mask in masks:
            it.meant_for[mask.serial] = variable
    elif not masks:
        it.decayed.add(key)


def _flat_factors(value: Value, depth: int = 0) -> list[Value]:
    if value.op.role in PRODUCTS and value.how is How.OPERATION and depth < 6:
        return [found for each in value.operands for found in _flat_factors(each, depth + 1)]
    return [value]


def _text_of(value: Value, at: Value) -> str:
    """A factor as it is written in the product."""
    node = at.node
    if isinstance(node, ast.BinOp) and at.operands:
        return ast.unparse(node.right if value is at.operands[1] else node.left)
    if isinstance(node, ast.Call):
        position = next((i for i, each in enumerate(at.operands) if each is value), 0)
        if position < len(node.args):
            return ast.unparse(node.args[position])
    return "the mask"


def variable_text(variable: Value) -> str:
    """What a variable is called in messages."""
    ref = variable.ref
    if isinstance(ref, Variable) and (ref.name or ref.bound):
        return ref.name or ref.bound
    if variable.kind is Kind.UNKNOWN and variable.how is How.PARAMETER:
        return variable.label
    return variable.label or "the variable"


def _is_constrained(it: Interpreter, variable: Value) -> bool:
    """Whether a variable was made with a constraint, or its layer was."""
    ref = variable.ref
    if isinstance(ref, Variable) and isinstance(ref.owner, Layer) and ref.exact:
        return _given(ref.owner, f"{ref.name}_constraint")
    if isinstance(ref, Variable) and ref.within is not None:
        layers = [it.objects.get(member) for member in ref.within.members]
        return any(_given(each, "constraint") for each in layers if isinstance(each, Layer))
    node = variable.node
    return isinstance(node, ast.Call) and any(
        each.arg == "constraint" and any(name in ast.unparse(each.value).lower() for name in _PROJECTING)
        for each in node.keywords
    )


def _given(layer: Layer, ending: str) -> bool:
    return any(name.endswith(ending) and _projects(value) for name, value in layer.keywords)


_PROJECTING = ("max_norm", "unit_norm", "min_max_norm", "maxnorm", "unitnorm", "minmaxnorm")


def _projects(value: Value) -> bool:
    """Whether this is a constraint of Keras that scales whole columns: one of the file's own may know the mask."""
    name = value.ref if value.kind is Kind.LITERAL else getattr(value.ref, "symbol", "")
    return isinstance(name, str) and name.rpartition(".")[2].lower() in _PROJECTING


def _judge_shape(it: Interpreter, optimizer: Value, pair: Pair, node: ast.AST) -> None:
    """A gradient of another shape than the variable."""
    note_misfit(it, pair.variable, pair.gradient)
    given, wanted = pair.gradient.shape, pair.variable.shape
    if given is None or wanted is None or given == wanted or None in given or None in wanted or it.expected:
        return
    row = measured_optimizer(it, optimizer)
    if row is None or not _fits(given, wanted):
        return
    text = (str(wanted), str(given), shown(optimizer))
    it.note(GradientBroadcast, node, variable_text(pair.variable), *text, not row.broadcasts_gradient)


def _fits(given: Shape, wanted: Shape) -> bool:
    return broadcast(given, wanted) == wanted


def note_product(it: Interpreter, left: Value, right: Value, node: ast.AST) -> None:
    """`column * row` where one of them is a mask: every entry meets every other.

    Without a mask an outer product is meant, unless a variable of another shape is given it.
    """
    sides = operand_nodes(node)
    if it.expected or len(sides) != 2 or left.shape is None or right.shape is None or any(map(_is_aligned, sides)):
        return
    if not (_is_outer(left.shape, right.shape) or _is_outer(right.shape, left.shape)):
        return
    masks = [bool(mask_states(it, each) & _EVER) for each in (left, right)]
    if all(masks) or not (any(masks) or any(gradient_of(each) is not None for each in (left, right))):
        return  # none is a mask, or both are: a mask of pairs
    made = broadcast(left.shape, right.shape)
    texts = (ast.unparse(sides[0]), ast.unparse(sides[1]), str(left.shape), str(right.shape), str(made))
    holds = None if any(masks) else lambda: node in it.misfits
    it.note(MaskBroadcast, node, *texts, holds=holds)


def note_misfit(it: Interpreter, variable: Value, given: Value, most: int = 60) -> None:
    """A variable is given what surely has another shape: remember the products that it was made by."""
    if variable.shape is None or given.shape is None or None in (*variable.shape, *given.shape):
        return
    if not _fits(given.shape, variable.shape):
        behind = lineage([given], most, lambda each: each.operands or each.inputs if each.of is None else ())
        it.misfits.update(each.node for each in behind if each.node is not None and each.shape == given.shape)


def _is_aligned(side: ast.expr) -> bool:
    """Whether a side is given its shape in the product itself: `mask[:, None]`, not `batch["mask"]`."""
    named = (
        isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Constant) and isinstance(side.slice.value, str)
    )
    return isinstance(side, ast.Subscript | ast.Call) and not named


def _is_outer(column: Shape, row: Shape) -> bool:
    """Whether a column `(n, 1)` meets a row `(n,)` of the same length, or a vector `(n,)` meets a mask of `(n, 1)`."""
    if len(column) != 2 or len(row) != 1 or column[1] != 1:
        return False
    return column[0] is not None and column[0] > 1 and column[0] == row[0]
