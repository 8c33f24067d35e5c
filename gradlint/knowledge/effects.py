"""Effects: what calling a library function does to the gradients of its arguments, as it was measured.

The engine asks `effect_of(symbol)` and knows no symbol itself. The verdicts stand in `measured_ops.json`
(`tools/measure_ops.py` writes it); what is said here is how a verdict reads as the cause of a cut, and what stands in
for functions that are no longer public.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from gradlint.knowledge.measured import DtypeClass, MeasuredArgument, MeasuredSymbol, measured
from gradlint.verdicts import Cause, Verdict

Causes = dict[str, Cause | None]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call does, per output and parameter.

    `causes` has one entry per output that is told apart, at least one: the cause of the cut by parameter, None where
    gradients pass. Parameters that are not named there were not measured, and are taken to pass.
    """

    causes: tuple[Causes, ...] = ({},)
    parameters: tuple[str, ...] = ()
    dtypes: tuple[DtypeClass, ...] = ()
    every: Cause | None = field(default=None)
    """The cause when no argument gets a gradient through any output."""


FLOWS = Effect()
#: How each operation of TensorFlow that cuts is called here; any other one is not differentiable.
_CAUSES_OF_OPS = {
    "StopGradient": Cause.STOPPED,
    "PyFunc": Cause.LEFT_TENSORFLOW,
    "EagerPyFunc": Cause.LEFT_TENSORFLOW,
    "Cast": Cause.INTEGER,
    "Bitcast": Cause.INTEGER,
    "Multinomial": Cause.DISCRETE_SAMPLE,
    "StatelessMultinomial": Cause.DISCRETE_SAMPLE,
    "StatelessRandomBinomial": Cause.DISCRETE_SAMPLE,
    "StatelessRandomPoisson": Cause.DISCRETE_SAMPLE,
    "RandomShuffle": Cause.DISCRETE_SAMPLE,
}
#: Functions of TensorFlow 1 and of Keras 2 that cannot be measured any more.
_GONE = {
    "to_int32": Cause.INTEGER,
    "to_int64": Cause.INTEGER,
    "multinomial": Cause.DISCRETE_SAMPLE,
    "sign_bit": Cause.NON_DIFFERENTIABLE,
}
_SHORT_LOSSES = frozenset({"MSE", "MAE", "MAPE", "MSLE", "KLD"})
#: Where a function of the same name stands that was measured.
_LIKELY_SPACES = ("tf", "tf.math", "keras.ops", "tf.nn", "tf.random", "keras.random", "tf.image", "tf.linalg")
#: Functions over integers and strings alone.
_INTEGER_SPACES = ("tf.strings", "tf.bitwise", "tf.sets")
#: The number of tensors that these return is the caller's to choose.
AS_MANY_AS_ASKED = frozenset(
    "split array_split vsplit hsplit dsplit unstack meshgrid tuple identity_n dynamic_partition broadcast_arrays "
    "atleast_1d atleast_2d atleast_3d map_fn scan while_loop fori_loop cond case switch_case".split()
)

#: Namespaces whose functions take tensors and return tensors.
OPERATION_SPACES = (
    "tf.math.",
    "tf.nn.",
    "tf.linalg.",
    "tf.image.",
    "tf.signal.",
    "tf.sparse.",
    "tf.ragged.",
    "tf.random.",
    "tf.bitwise.",
    "tf.sets.",
    "tf.strings.",
    "tf.audio.",
    "tf.quantization.",
    "tf.experimental.numpy.",
    "tf.python.ops.",
    "tf.losses.",
    "tf.initializers.",
    "tf.raw_ops.",
    "tf.debugging.",
    "tf.io.",
    "keras.ops.",
    "keras.layers.",  # the lower-case ones: add, concatenate, dot ...
    "keras.backend.",
    "keras.activations.",
    "keras.losses.",
    "keras.metrics.",
    "keras.random.",
    "keras.utils.",
)


@cache
def effect_of(symbol: str) -> Effect | None:
    """The effect of calling a library function, or None when it is not an operation on tensors."""
    space, _, name = symbol.rpartition(".")
    if (name[:1].isupper() and name not in _SHORT_LOSSES) or name.startswith("_"):
        return None
    if space != "tf" and not symbol.startswith(OPERATION_SPACES):
        return None
    if space == "tf.io":
        return Effect(every=Cause.INTEGER) if name.startswith(("encode_", "decode_", "serialize_")) else None
    known = _measured(symbol)
    if known is not None and known.arguments:
        return _read(known, name)
    if name in _GONE:
        return Effect(every=_GONE[name])
    return Effect(every=Cause.INTEGER) if space.startswith(_INTEGER_SPACES) else FLOWS


def _measured(symbol: str) -> MeasuredSymbol | None:
    """The row of a function, or of one of the same name where it was not measured itself."""
    name = symbol.rpartition(".")[2]
    for candidate in (symbol, *(f"{space}.{name}" for space in _LIKELY_SPACES)):
        known = measured(candidate)
        if known is not None:
            return known
    return None


def _read(known: MeasuredSymbol, name: str) -> Effect:
    by_parameter: dict[str, list[MeasuredArgument]] = {}
    for argument in known.arguments:
        by_parameter.setdefault(_parameter(argument, known.parameters), []).append(argument)
    apart = len(known.outputs) > 1 and name not in AS_MANY_AS_ASKED
    causes = tuple(
        {parameter: _cause(found, output) for parameter, found in by_parameter.items()}
        for output in (range(len(known.outputs)) if apart else (None,))
    )
    if all(each == causes[0] for each in causes):
        causes = causes[:1]
    found_causes = {cause for each in causes for cause in each.values()}
    every = next(iter(found_causes)) if len(found_causes) == 1 and len(causes) == 1 else None
    return Effect(causes, known.parameters, known.outputs, every)


def _parameter(argument: MeasuredArgument, parameters: tuple[str, ...]) -> str:
    name = argument.parameter
    if name.startswith("arg") and name[3:].isdecimal() and int(name[3:]) < len(parameters):
        return parameters[int(name[3:])]
    return name


def _cause(found: list[MeasuredArgument], output: int | None) -> Cause | None:
    """Why a parameter gets no gradient; None when it gets one in any variant of the call that was measured."""
    causes = [_cause_of_one(each, output) for each in sorted(found, key=lambda each: "(" in each.name)]
    return None if None in causes else causes[0]


def _cause_of_one(argument: MeasuredArgument, output: int | None) -> Cause | None:
    verdict = argument.verdict
    if output is not None and output < len(argument.outputs):
        verdict = argument.outputs[output]
    if verdict is Verdict.RAISES:
        return Cause.UNREGISTERED_OP if argument.note.startswith("LookupError") else None
    if verdict is Verdict.ZERO and argument.op == "Sign":
        return Cause.SATURATED  # of the operations with a gradient of zero the one that has no other
    if verdict is not Verdict.NONE:
        return None
    if "float cast to" in argument.name:
        return Cause.NON_DIFFERENTIABLE  # integers are wanted: the cast is of the measurement
    if argument.op == "Cast" and "the result is integer" not in argument.note:
        return Cause.NON_DIFFERENTIABLE  # it casts on its way: a threshold, a count, a truth value
    return _CAUSES_OF_OPS.get(argument.op, Cause.NON_DIFFERENTIABLE)
