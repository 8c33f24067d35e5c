"""Notes every op that runs eagerly, so that a cut in eager code can be placed.

TensorFlow tells of each op through a callback per thread. While a tape records, the tensors themselves are kept too:
the tape can then be asked about them (`none_cuts.py`), and their numbers be looked at. All is bounded.
"""

from __future__ import annotations

import threading
from typing import Any

from gradlint.probe.applied_entries import MASKING
from gradlint.probe.dataflow import LEAVES, Op, is_float
from gradlint.probe.names import identities
from gradlint.probe.places import Stack, here, here_and_custom, variables_given_to_op
from gradlint.probe.private_api import add_op_callback, remove_op_callback, tensor_id
from gradlint.probe.tapes import recording

#: Ops that are remembered, and bytes of tensors that are kept alive: the oldest go first.
MOST_OPS = 200_000
MOST_BYTES = 1 << 30
_MOST_FOLLOWED = 4096


class Recorder:
    """The ops of all threads that it listens to, in the order of running."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.graphs: dict[str, Any] = {}
        """The latest graph of each name: the op that calls a tf.function is named after its graph."""
        self.followed: dict[int, int] = {}
        """Gradients, and what was computed from one of them, with the number of the variable."""
        self.masks: list[tuple[int, Any, Any, Stack]] = []
        """Products and selections of gradients: variable, gradient, result, where. Read at each update."""
        self._known: set[int] = set()
        """Tensors that were seen before: what an op gets beside them was read from a variable, or made in Python."""
        self._closed = False
        self._local = threading.local()
        self._kept = 0
        self._lock = threading.Lock()

    @property
    def listens(self) -> bool:
        """Does it listen to this thread?"""
        return bool(getattr(self._local, "on", False))

    def start(self) -> None:
        """Listen to this thread."""
        if not self.listens:
            self._local.on = add_op_callback(self._op_seen)

    def stop(self) -> None:
        """Listen to this thread no more."""
        if self.listens:
            remove_op_callback(self._op_seen)
            self._local.on = False

    def close(self) -> None:
        """Listen no more, also where another thread still has the callback."""
        self.stop()
        self._closed = True
        self.ops.clear()

    def forget_tensors(self) -> None:
        """Let the kept tensors go: no tape will be asked about them."""
        with self._lock:
            for op in self.ops:
                op.tensors = ()
            self._kept = 0

    def left(self, tensor: Any) -> None:
        """A tensor was turned into a number or an array of NumPy."""
        if getattr(self._local, "paused", 0) or not self.listens:
            return
        self._add(Op(LEAVES, (tensor_id(tensor),), (), (), recording(), here()))

    def follow(self, sources: list[Any], gradients: list[Any]) -> None:
        """These gradients were computed: what the program makes of them is noted."""
        if not self.listens:
            return
        if len(self.followed) > _MOST_FOLLOWED // 2:
            self.followed.clear()
        for source, gradient in zip(sources, gradients, strict=True):
            if hasattr(source, "trainable") and gradient is not None and not hasattr(gradient, "indices"):
                self.followed[tensor_id(gradient)] = min(identities(source))

    def pause(self) -> None:
        """What this thread runs from here on is the probe's own."""
        self._local.paused = int(getattr(self._local, "paused", 0)) + 1

    def resume(self) -> None:
        """The opposite of `pause`."""
        self._local.paused -= 1

    def _op_seen(
        self, op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        if self._closed or bool(getattr(self._local, "paused", False)):
            return
        if graph is not None:
            name = getattr(graph, "name", None)  # the graphs of tf.compat.v1 have none
            if name is not None:
                self.graphs[name] = graph
            return
        made = tuple(outputs) if isinstance(outputs, list | tuple) else (() if outputs is None else (outputs,))
        tapes = recording()
        stack, custom = here_and_custom()
        try:
            op = Op(
                str(op_type),
                tuple(tensor_id(tensor) for tensor in inputs),
                tuple(tensor_id(tensor) for tensor in made),
                tuple(is_float(tensor.dtype) for tensor in made),
                tapes,
                stack,
                tensors=made if tapes else (),
                custom=custom,
            )
        except AttributeError:  # an input that is no tensor
            return
        unknown = [place for place, number in enumerate(op.inputs) if number not in self._known]
        if unknown:
            self._note_reads(op, inputs, unknown)
        self._known.update(op.inputs, op.outputs)
        self._add(op)
        if self.followed and not self.followed.keys().isdisjoint(op.inputs):
            self._follow(op, inputs, made)

    def _note_reads(self, op: Op, inputs: Any, unknown: list[int]) -> None:
        """A variable that is given to an op directly is read in C++, and no callback tells: find it in the call."""
        given = variables_given_to_op()
        for place in unknown:
            tensor = inputs[place]
            if getattr(tensor.dtype, "name", "") == "resource":
                continue
            for variable in given:
                if variable.dtype == tensor.dtype and variable.shape == tensor.shape:
                    read = Op(
                        "ReadVariableOp",
                        (tensor_id(variable.handle),),
                        (op.inputs[place],),
                        (is_float(tensor.dtype),),
                        op.tapes,
                        op.stack,
                        tensors=(tensor,) if op.tapes else (),
                    )
                    self._add(read)
                    given.remove(variable)
                    break

    def _follow(self, op: Op, inputs: Any, made: tuple[Any, ...]) -> None:
        for number, tensor in zip(op.inputs, inputs, strict=True):
            variable = self.followed.get(number)
            if variable is None or len(made) != 1 or made[0].shape != tensor.shape:
                continue
            if len(self.followed) < _MOST_FOLLOWED:
                self.followed[op.outputs[0]] = variable
            if op.kind in MASKING and len(self.masks) < _MOST_FOLLOWED:
                self.masks.append((variable, tensor, made[0], op.stack))

    def _add(self, op: Op) -> None:
        with self._lock:
            self.ops.append(op)
            if op.tensors:
                self._kept += sum(_bytes(tensor) for tensor in op.tensors)
            if len(self.ops) > MOST_OPS:
                del self.ops[: MOST_OPS // 4]
        if self._kept > MOST_BYTES:
            self.forget_tensors()


def _bytes(tensor: Any) -> int:
    count = 1
    for size in getattr(tensor, "shape", ()) or ():
        count *= size or 1
    return count * max(getattr(tensor.dtype, "size", 4), 1)
