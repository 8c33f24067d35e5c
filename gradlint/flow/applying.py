"""Applying: an optimizer is handed gradients and variables; everything that is judged at that moment starts here."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.certainty import is_slice_of_weight, is_surely_tensor, variable_behind
from gradlint.flow.descent import key_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.lifecycle import judge_optimizer
from gradlint.flow.masks import judge_pair
from gradlint.flow.optimizers import Pair, applied_lists, pairs_of
from gradlint.flow.pairing import note_zip
from gradlint.flow.python_calls import zip_call
from gradlint.flow.sequences import consume
from gradlint.flow.update_events import Holder, Mispairing, PairsConsumed, PairsMismatched, TensorGivenToOptimizer
from gradlint.flow.values import Kind, Value


def apply_gradients(it: Interpreter, optimizer: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`optimizer.apply_gradients(pairs)` or `optimizer.apply(gradients, variables)`."""
    made = it.plain(node)
    if name == "apply":
        gradients, variables = applied_lists(arguments)
        if gradients is None or variables is None:
            return made
        note_zip(it, Arguments((gradients, variables)), node)
        rows = zip_call(it, Arguments((gradients, variables)), node)
    else:
        given = arguments.get(0, "grads_and_vars")
        if given is None:
            return made
        rows = given
        gone = consume(it, rows, node)
        if gone is not None and gone is not node and not it.expected:
            text = ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "the pairs"
            it.note(PairsConsumed, node, text, steps=((f"`{text}` gone through here", gone),))
    pairs = list(pairs_of(it, rows))[:16]
    for pair in pairs:
        if _is_refused(it, pair, node):
            it.alive = False
            return made
    it.applied.extend(pair.gradient for pair in pairs)
    for pair in pairs:
        it.moved.setdefault(key_of(pair.variable), pair.variable)
    judge_optimizer(it, optimizer, pairs, node)
    for pair in pairs:
        judge_pair(it, optimizer, pair, node)
    return made


def _is_refused(it: Interpreter, pair: Pair, node: ast.AST) -> bool:
    """Whether what stands for the variable surely is none."""
    given = pair.variable
    if not it.expected and is_slice_of_weight(given):
        it.note(TensorGivenToOptimizer, node, ast.unparse(given.node or node), Holder.SLICE, certain=False)
        return False
    if it.expected or not (is_surely_tensor(given) or given.of is not None):
        return False
    if given.of is not None and pair.gradient.kind in (Kind.VARIABLE, Kind.VARIABLES, Kind.UNKNOWN):
        it.note(PairsMismatched, _pairs_node(node), Mispairing.REVERSED, "the variables", "the gradients")
        return it.doubt == 0
    holder = Holder.SLICE if variable_behind(given) is not None else Holder.TENSOR
    text = ast.unparse(given.node) if isinstance(given.node, ast.expr) else "it"
    it.note(TensorGivenToOptimizer, node, text, holder)
    return it.doubt == 0


def _pairs_node(node: ast.AST) -> ast.AST:
    return node.args[0] if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Call) else node
