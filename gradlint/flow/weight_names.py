"""Weight names: tests that no weight of Keras 3 passes: a layer's name in `v.name`, `isinstance(v, tf.Variable)`.

In Keras 3 `v.name` is what `add_weight` was given (`kernel`, `bias`); the layer's name is in `v.path` (fixtures/GL439).
"""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Variable
from gradlint.flow.update_events import TestNeverTrue
from gradlint.flow.values import How, Kind, Value, alternatives

#: What the layers of Keras 3.15 call their weights.
_NAMES = (
    "kernel bias gamma beta moving_mean moving_variance moving_stddev embeddings reverse_embeddings recurrent_kernel "
    "depthwise_kernel pointwise_kernel alpha scale mean variance count total seed_generator_state vector_u "
    "concat_score_weight lora_kernel_a lora_kernel_b lora_embeddings_a lora_embeddings_b real_kernel imag_kernel "
    "renorm_mean renorm_stddev kernel_scale kernel_zero g_idx zero_point query key value iteration learning_rate"
).split()
_METHODS = ("startswith", "endswith")


def is_never_in_name(it: Interpreter, wanted: Value, told: Value, node: ast.AST) -> bool:
    """`"encoder" in v.name`, where no weight of the file is called so."""
    return _is_keras_name(it, told) and _note_unless_possible(it, [wanted], node)


def never_matches(it: Interpreter, method: str, told: Value, arguments: list[Value], node: ast.AST) -> bool:
    """`v.name.startswith("encoder")`, with one string or a tuple of them."""
    if method not in _METHODS or not arguments or not _is_keras_name(it, told):
        return False
    wanted = it.items(arguments[0]).elements if arguments[0].kind is Kind.CONTAINER else (arguments[0],)
    return _note_unless_possible(it, list(wanted), node)


def _is_keras_name(it: Interpreter, told: Value) -> bool:
    if not it.keras_3 or it.expected or told.kind is not Kind.PLAIN or told.label != "name" or not told.operands:
        return False
    ways = alternatives(told.operands[0], 8) or ()
    return bool(ways) and all(_is_in_sight(way) for way in ways)


def _is_in_sight(way: Value) -> bool:
    """Whether this is a weight of Keras, of which code in sight (or Keras) made the name."""
    if way.kind is not Kind.VARIABLE or not isinstance(way.ref, Variable) or not way.ref.keras:
        return False
    return way.ref.within is None or not way.ref.within.open_members


def _note_unless_possible(it: Interpreter, wanted: list[Value], node: ast.AST) -> bool:
    texts = [each.ref for each in wanted if each.kind is Kind.LITERAL and isinstance(each.ref, str)]
    if not texts or len(texts) != len(wanted) or it.relevance.names_weights_by_code:
        return False
    known = [*_NAMES, *it.relevance.weight_names]
    if any(text in name for text in texts for name in known):
        return False
    it.note(TestNeverTrue, node, "`v.name` is what the weight is called, not its layer", "look in `v.path`")
    return True


def is_never_tf_variable(it: Interpreter, value: Value, node: ast.AST) -> bool:
    """`isinstance(v, tf.Variable)` of a weight of Keras 3."""
    if not it.keras_3 or it.expected or value.how is How.JOIN or value.kind is not Kind.VARIABLE:
        return False
    if not isinstance(value.ref, Variable) or not value.ref.keras:
        return False
    it.note(TestNeverTrue, node, "weights of Keras 3 are keras.Variables", "`isinstance(v, keras.Variable)`")
    return True
