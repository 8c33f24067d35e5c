"""Own code: which layers of the library run code of this file when they are called, or cut by nature."""

from __future__ import annotations

from gradlint.flow.arguments import Arguments
from gradlint.flow.values import Kind, Value
from gradlint.knowledge.effects import effect_of

#: Layers that run another layer.
WRAPPERS = frozenset({"TimeDistributed", "RNN"})
#: Layers that look up or count what they are given: measured, no gradient reaches their input (fixtures/GL202).
INPUT_CUTTING = frozenset(
    "Embedding Discretization CategoryEncoding IntegerLookup StringLookup Hashing HashedCrossing".split()
)
_ACTIVATION_PLACES = {"Dense": 1, "Activation": 0, "Lambda": 0}


def activation_of(name: str, arguments: Arguments) -> Value | None:
    """A function that the layer is given to apply to what it computes; names of activations need no running."""
    given = arguments.get(_ACTIVATION_PLACES.get(name), "activation")
    if name == "Lambda":
        given = given or arguments.keywords.get("function")
    if given is not None and given.kind is Kind.SYMBOL:
        effect = effect_of(given.ref)
        return given if effect is not None and effect.every is not None else None
    return given if given is not None and given.kind in (Kind.FUNCTION, Kind.INSTANCE) else None


def runs_own_code(layer: Value) -> bool:
    """Whether calling the layer runs code of this file, or has to be looked into for a cut."""
    if layer.kind is not Kind.LAYER:
        return layer.kind is Kind.INSTANCE
    owner = layer.ref
    name = owner.symbol.rpartition(".")[2]
    if owner.activation is not None or owner.has_cuts or name in INPUT_CUTTING:
        return True
    if name == "Lambda":
        return bool(owner.parts)
    if owner.sequence is not None:
        return any(runs_own_code(each) for each in owner.sequence)
    if owner.outputs is not None or name in WRAPPERS:
        return any(runs_own_code(part) for part in owner.parts)
    return False
