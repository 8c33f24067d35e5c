"""`probe.trace()`: run one function under a tape, as a compiled graph, and report what every variable gets."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from gradlint.probe.account import Account
from gradlint.probe.report import GradientReport, report_of
from gradlint.probe.sources import reachable_variables
from gradlint.probe.watch import Watch

_NO_LOSS = "probe.trace: no loss:"
_WORDS_OF_TRACING = ("Symbolic", "symbolic", "FuncGraph", "graph mode", "NumPy", "numpy", "KerasTensor", "Tensor")


def trace(
    fn: Callable[..., Any], *args: Any, variables: Sequence[Any] | None = None, steps: int = 1, **kwargs: Any
) -> GradientReport:
    """Call `fn(*args, **kwargs)` and report which variables get a gradient from what it returns.

    `fn` returns the loss: a float tensor, or a structure of them, whose sum is meant. When it asks for gradients itself
    (a training step), those are reported instead. It is traced with `tf.function`; what cannot be traced is run
    eagerly, and a note says so.

    Args:
        fn: a function, method, layer or model.
        variables: the sources; by default every trainable variable that is reached from the arguments, the closure and
            the object that `fn` is bound to.
        steps: how often to run it; a zero or NaN is judged over all of them.

    Returns:
        The report. `report.assert_flows()` makes a test of it.

    Raises:
        TypeError: `fn` is no function, is a generator, or returns no float tensor.
        ValueError: `steps` is less than 1.
        Exception: whatever `fn` raises, unchanged; its notes tell what had been observed by then.
    """
    _check(fn, steps)
    import tensorflow as tf

    listed = None if variables is None else _listed(variables)
    watch, problem = _run(tf, fn, args, kwargs, listed, steps, compiled=True)
    if problem is not None and not isinstance(problem, _NoLoss) and _cannot_be_traced(tf, problem):
        first = problem
        watch, problem = _run(tf, fn, args, kwargs, listed, steps, compiled=False)
        watch.account.note(f"the function could not be traced ({_words(first)}), so it ran eagerly")
    if isinstance(problem, _NoLoss):
        raise TypeError(str(problem))
    if problem is not None:
        if hasattr(problem, "add_note"):
            problem.add_note(f"gradlint observed until then: {_summary(watch.account)}")
        raise problem
    return report_of(watch.account, _file_of(fn))


class _NoLoss(TypeError):
    """What the function returned is no loss."""


def _listed(variables: Any) -> list[Any]:
    if hasattr(variables, "dtype"):
        return [variables]
    return list(variables)


def _cannot_be_traced(tf: Any, error: Exception) -> bool:
    """Is it about tracing, and not about the function itself? Then running it eagerly may do."""
    if isinstance(error, NotImplementedError | AttributeError | tf.errors.OperatorNotAllowedInGraphError):
        return True
    return isinstance(error, TypeError | ValueError) and any(word in str(error) for word in _WORDS_OF_TRACING)


def _check(fn: Callable[..., Any], steps: int) -> None:
    if not callable(fn):
        raise TypeError(f"probe.trace: expected a function that returns the loss, got {type(fn).__name__}")
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn) or inspect.iscoroutinefunction(fn):
        raise TypeError(
            f"probe.trace: `{fn.__name__}` is a generator or coroutine; wrap it in a function that returns the loss"
        )
    if steps < 1:
        raise ValueError(f"probe.trace: steps must be at least 1, got {steps}")


def _run(
    tf: Any,
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    gradlint_listed: Sequence[Any] | None,
    steps: int,
    *,
    compiled: bool,
) -> tuple[Watch, Exception | None]:
    """Run it under a watch; the exception, if it raised one."""
    watch = Watch(locate_in_graphs=True)
    raised: list[Exception] = []

    def step() -> None:
        account = watch.account
        before = account.gradients.count
        with tf.GradientTape() as tape:
            try:
                target = fn(*args, **kwargs)
            except Exception as error:
                raised.append(error)  # as it was raised: AutoGraph will make another one of it
                raise
        if account.gradients.count > before:  # it is a training step
            return
        # The name tells that it is none of the user's names for its parts (names.py).
        gradlint_sources = (
            reachable_variables(fn, [*args, *kwargs.values()]) if gradlint_listed is None else gradlint_listed
        )
        account.variables.expects_sources = True
        tape.gradient(_target(tf, fn, target), gradlint_sources)

    problem: Exception | None = None
    with watch:
        try:
            run = tf.function(step) if compiled else step
            for _ in range(steps):
                run()
        except Exception as error:
            problem = raised[0] if raised else error
    if problem is not None and _NO_LOSS in str(problem):
        words = str(problem)
        problem = _NoLoss(words[words.index(_NO_LOSS) :].strip())
    return watch, problem


def _target(tf: Any, fn: Callable[..., Any], returned: Any) -> Any:
    floats = [
        part
        for part in tf.nest.flatten(returned)
        if hasattr(part, "dtype") and (tf.as_dtype(part.dtype).is_floating or tf.as_dtype(part.dtype).is_complex)
    ]
    if not floats:
        name = getattr(fn, "__name__", type(fn).__name__)
        raise _NoLoss(f"{_NO_LOSS} `{name}` returned {_kind(returned)}; it has to return the loss, a float tensor")
    return floats


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    if hasattr(value, "dtype"):
        return f"a tensor of {getattr(value.dtype, 'name', value.dtype)}"
    return f"a value of type {type(value).__name__}"


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}".rstrip(": ")


def _summary(account: Account) -> str:
    return str(report_of(account)).splitlines()[0]


def _file_of(fn: Callable[..., Any]) -> list[str]:
    try:
        found = inspect.getsourcefile(inspect.unwrap(fn))
    except (TypeError, ValueError):
        return []
    return [found] if found else []
