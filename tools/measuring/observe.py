"""Observation: one call of a function, the gradient of each output for each watched input, in eager and graph code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

FLOWS, PARTIAL, NAN, ZERO, NONE, RAISES = "flows", "partial-zero", "nan", "zero", "none", "raises"


@dataclass(frozen=True)
class Observation:
    """What became of one input: the verdict over all outputs and per output, and why a backward pass raised."""

    verdict: str
    outputs: tuple[str, ...]
    error: str = ""


@dataclass(frozen=True)
class Result:
    """What became of each input of one call, and the class of each output's dtype."""

    inputs: tuple[Observation, ...]
    dtypes: tuple[str, ...]


def in_eager(function: Callable[..., Any], values: list[Any]) -> Result:
    """What happens outside tf.function. Raises what the call itself raises."""
    inputs = [tf.constant(value) for value in values]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(inputs)
        made = list(tensors(function(*inputs)))
    observed = []
    for each in inputs:
        found, gradients, error = [], [], ""
        for output in made:
            if not differentiable(output):
                found.append(NONE)
                continue
            try:
                gradients.append(tape.gradient(output, each, output_gradients=weights(output)))
                found.append(verdict_of(gradients[-1:]))
            except Exception as raised:
                found.append(RAISES)
                error = error or first_line(raised)
        observed.append(Observation(RAISES if error else verdict_of(gradients), tuple(found), error))
    return Result(tuple(observed), tuple(dtype_class(each) for each in made))


def in_graph(function: Callable[..., Any], values: list[Any], number: int) -> Observation:
    """What becomes of the `number`-th input under tf.function."""

    def step(*inputs: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(inputs)
            made = [output for output in tensors(function(*inputs)) if differentiable(output)]
        gradients = [tape.gradient(each, inputs[number], output_gradients=weights(each)) for each in made]
        return [None if each is None else tf.convert_to_tensor(each) for each in gradients]

    message = ""
    for autograph in (False, True):  # tracing is much slower with autograph, and few functions need it
        try:
            gradients = tf.function(step, autograph=autograph)(*(tf.constant(value) for value in values))
        except Exception as raised:
            message = message or first_line(raised)
            continue
        return Observation(verdict_of(gradients), tuple(verdict_of([each]) for each in gradients))
    return Observation(RAISES, (RAISES,), message)


def only_in_graph(function: Callable[..., Any], values: list[Any]) -> Result:
    """The result of a function that refuses to run outside tf.function."""
    return Result(tuple(in_graph(function, values, number) for number, _ in enumerate(values)), ("float",))


def tensors(result: Any) -> Iterator[Any]:
    """The outputs of a call, flat; the values alone of what is sparse or ragged."""
    if isinstance(result, tf.SparseTensor | tf.IndexedSlices):
        yield result.values
    elif isinstance(result, tf.RaggedTensor):
        yield result.flat_values
    elif isinstance(result, tf.Tensor | np.ndarray | np.generic):
        yield result
    elif isinstance(result, tf.Variable):
        yield result.value()
    elif isinstance(result, dict):
        for each in result.values():
            yield from tensors(each)
    elif isinstance(result, list | tuple):
        for each in result:
            yield from tensors(each)
    elif type(result).__name__ == "Variable":
        yield result.value


def differentiable(output: Any) -> bool:
    """Whether a tape can be asked for the gradient of an output at all."""
    return isinstance(output, tf.Tensor) and (output.dtype.is_floating or output.dtype.is_complex)


def weights(output: Any) -> Any:
    """What each entry of an output counts in the target: all different, so that a softmax does not cancel out."""
    shape = tf.shape(output)
    ramp = tf.cast(tf.range(tf.reduce_prod(shape)), tf.float32)
    flat = tf.reshape(0.7 + 0.6 * tf.sin(ramp * 2.39 + 0.5), shape)
    if output.dtype.is_complex:
        return tf.complex(tf.cast(flat, output.dtype.real_dtype), tf.cast(flat * 0.5, output.dtype.real_dtype))
    return tf.cast(flat, output.dtype)


def verdict_of(gradients: Iterable[Any]) -> str:
    """What the gradients of several outputs for one input amount to: an entry is zero where it is for each of them."""
    arrays = [np.asarray(tf.convert_to_tensor(each)) for each in gradients if each is not None]
    if not arrays:
        return NONE
    if not all(np.isfinite(each).all() for each in arrays):
        return NAN
    nonzero = np.any([each != 0 for each in arrays], axis=0)
    if not nonzero.any():
        return ZERO
    return FLOWS if nonzero.all() else PARTIAL


def dtype_class(output: Any) -> str:
    """float, complex, integer, bool, string, or other."""
    if not isinstance(output, tf.Tensor):
        return "numpy"
    dtype = output.dtype
    for name, holds in (("float", dtype.is_floating), ("complex", dtype.is_complex), ("bool", dtype.is_bool)):
        if holds:
            return name
    return "string" if dtype == tf.string else "integer" if dtype.is_integer else "other"


def first_line(error: BaseException) -> str:
    """An exception in one line, without what differs from run to run."""
    line = re.sub(r"\{\{function_node [^}]*\}\} ", "", str(error).strip().split("\n", 1)[0])
    no_kernel = re.search(r"Could not find device for node: \{\{node (\w+)\}\}", line)
    if no_kernel:
        return f"TensorFlow has no kernel of {no_kernel[1]} for a CPU"
    return f"{type(error).__name__}: {line}"[:160]
