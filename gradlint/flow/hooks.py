"""Hooks: the methods of Keras callbacks that `fit` calls, on the model that it trains."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.instances import bind_method, class_attribute
from gradlint.flow.interpreter import Interpreter, in_turn
from gradlint.flow.objects import Function
from gradlint.flow.values import Fill, How, Kind, Value

#: In the order of Keras. Those of the start and the end of training stand outside the steps.
_HOOKS = ("on_epoch_begin", "on_train_batch_begin", "on_train_batch_end", "on_epoch_end")


def run_hooks(it: Interpreter, model: Value, callbacks: Value | None, node: ast.AST) -> None:
    """Run what the callbacks of this file or its modules do in an epoch, once."""
    for callback in it.leaves(callbacks) if callbacks is not None else ():
        if callback.kind is not Kind.INSTANCE or not is_callback(callback):
            continue
        it.store.set((callback.ref.id, "model"), model)
        it.attribute_names.setdefault(callback.ref.id, {})["model"] = None
        for name in _HOOKS:
            method = class_attribute(it, callback.ref.cls, name)
            if method is None or not isinstance(method.ref, Function):
                continue
            number = it.plain(node)
            number.fill = Fill.INDEX
            logs = it.parameter("logs", node)
            logs.how, logs.kind = How.FRESH, Kind.PLAIN
            with in_turn(it):
                it.call(bind_method(it, method, callback, node), Arguments((number, logs)), node)


def is_callback(value: Value) -> bool:
    """Whether an object of the file is a callback of Keras."""
    return any("callbacks." in family for family in value.ref.cls.families)
