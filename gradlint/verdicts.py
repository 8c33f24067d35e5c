"""Verdicts and causes: the two closed lists that rules, reports, fixtures and (later) the probe share.

A new cause is added here and nowhere else.
"""

from enum import Enum


class Verdict(Enum):
    """What TensorFlow does with one source of a gradient, or with one variable of an update."""

    FLOWS = "flows"
    NONE = "none"
    ZERO = "zero"
    PARTIAL_ZERO = "partial-zero"
    NAN = "nan"
    RAISES = "raises"
    EMPTY_SOURCES = "empty-sources"
    NOT_OBSERVABLE = "not-observable"
    MOVED = "moved"
    FROZEN_MOVED = "frozen-moved"
    NEVER_UPDATED = "never-updated"
    WRONG_UPDATE = "wrong-update"


class Cause(Enum):
    """Why a cut cuts. The value is the stable identifier of the JSON key `cause`."""

    OUTSIDE_TAPE = "outside-tape"
    WRONG_TAPE = "wrong-tape"
    NOT_WATCHED = "not-watched"
    TAPE_CONSUMED = "tape-consumed"
    NEVER_READ = "never-read"
    NOT_IN_TARGET = "not-in-target"
    LEFT_TENSORFLOW = "left-tensorflow"
    NON_DIFFERENTIABLE = "non-differentiable"
    INTEGER = "integer"
    STOPPED = "stopped"
    CUSTOM_GRADIENT = "custom-gradient"
    STATE = "state"
    REBOUND = "rebound"
    DISCRETE_SAMPLE = "discrete-sample"
    UNREGISTERED_OP = "unregistered-op"
    CONSTANT = "constant"
    SATURATED = "saturated"
    UNSAFE_BRANCH = "unsafe-branch"
    UNSUPPORTED = "unsupported"


class Origin(Enum):
    """Who made a finding: the static analysis, or a run under the probe."""

    STATIC = "static"
    RUN = "run"


class Confirmation(Enum):
    """What a run says of a static finding."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REACHED = "not-reached"


#: Causes that make the gradient zero rather than None: the operation is registered, and its derivative is nothing.
ZERO_CAUSES = frozenset({Cause.CONSTANT, Cause.SATURATED})
