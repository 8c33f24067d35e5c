"""Activations: which numbers each computes, and how it comes to be zero (measured with Keras 3.15, float32)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import inf


class Zero(IntEnum):
    """How a computation reaches exactly zero."""

    NEVER = 0
    BY_CHANCE = 1  # a continuous quantity that happens to be zero
    FAR_OUT = 2  # large inputs underflow or saturate: a softmax, a sigmoid, an exponential
    ORDINARY = 3  # ordinary inputs give exact zeros: relu, a mask, a distance of something from itself


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a value is: from `low` to `high`, both reached or approached, and how it is zero."""

    low: float = -inf
    high: float = inf
    zero: Zero = Zero.BY_CHANCE
    loose: bool = False  # bounds that hold, and need not be reached

    @property
    def is_constant(self) -> bool:
        return self.low == self.high

    @property
    def is_signed(self) -> bool:
        """Whether negative and positive numbers are ordinary."""
        return self.low < 0 < self.high and not self.loose


#: Any real number: what a linear layer computes.
SIGNED = Numbers()
NOT_NEGATIVE = Numbers(0.0, inf)

ACTIVATIONS: dict[str, Numbers] = {
    "linear": SIGNED,
    "softmax": Numbers(0.0, 1.0, Zero.FAR_OUT),
    "sigmoid": Numbers(0.0, 1.0, Zero.FAR_OUT),
    "hard_sigmoid": Numbers(0.0, 1.0, Zero.ORDINARY),
    "tanh": Numbers(-1.0, 1.0),
    "softsign": Numbers(-1.0, 1.0),
    "relu": Numbers(0.0, inf, Zero.ORDINARY),
    "relu6": Numbers(0.0, 6.0, Zero.ORDINARY),
    # a softplus of a learned scale is never as small as to be zero, an exponential neither: they underflow below -100
    "softplus": Numbers(0.0, inf),
    "exponential": Numbers(0.0, inf),
    "elu": Numbers(-1.0, inf),
    "selu": Numbers(-1.76, inf),
    "gelu": Numbers(-0.17, inf),
    "silu": Numbers(-0.279, inf),
    "swish": Numbers(-0.279, inf),
    "mish": Numbers(-0.31, inf),
    "leaky_relu": SIGNED,
    "log_softmax": Numbers(-inf, 0.0),
    "log_sigmoid": Numbers(-inf, 0.0),
}
#: Activations that pass nothing back where they are given nothing but negative numbers.
RECTIFIERS = frozenset({"relu", "relu6"})
#: Layers that are an activation, by their names.
LAYERS_OF_ACTIVATION = {
    "ReLU": "relu", "Softmax": "softmax", "LeakyReLU": "leaky_relu", "ELU": "elu", "PReLU": "leaky_relu",
}  # fmt: skip
