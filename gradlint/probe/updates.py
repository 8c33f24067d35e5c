"""`probe.updates()`: run a training step a few times and compare the variables with what they were, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradlint.probe.flow_error import GradientFlowError, shortened
from gradlint.probe.names import identities, name_in, own_name
from gradlint.probe.optimizer_features import features_that_move
from gradlint.probe.places import frames_here
from gradlint.probe.report import GradientReport, report_of
from gradlint.probe.watch import Watch
from gradlint.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class VariableUpdate:
    """What became of one variable."""

    path: str
    verdict: Verdict
    """`moved`, `never-updated`, or `frozen-moved` when an entry moved that was to stay."""
    entries: int
    moved: int
    frozen: int = 0
    """How many entries were to stay: those whose mask is 0, or all of them when `trainable` is false."""
    frozen_moved: int = 0
    first: tuple[int, ...] | None = None
    """The index of the first frozen entry that moved."""
    because: tuple[str, ...] = ()
    """Features of the optimizer that move entries without a gradient."""


@dataclass(frozen=True)
class UpdateReport:
    """What a few steps did to some variables, and what their gradients were."""

    variables: tuple[VariableUpdate, ...]
    steps: int
    gradients: GradientReport

    def __getitem__(self, path: str) -> VariableUpdate:
        """The entry of this path.

        Raises:
            KeyError: no such variable was given.
        """
        for entry in self.variables:
            if entry.path == path:
                return entry
        raise KeyError(f"{path!r} was not given; there are {[entry.path for entry in self.variables]}")

    def assert_frozen(self) -> None:
        """Check that no frozen entry moved.

        Raises:
            GradientFlowError: some did; each line names the variable, how many, and what moved them.
        """
        __tracebackhide__ = True  # pytest shows the line of the test
        lines = [_sentence(entry) for entry in self.variables if entry.frozen_moved]
        if lines:
            raise GradientFlowError(shortened(lines))

    def assert_moved(self, allow: Sequence[str] = ()) -> None:
        """Check that every variable that may move did.

        Raises:
            GradientFlowError: some kept their values, bit by bit.
        """
        __tracebackhide__ = True
        kept = [entry for entry in self.variables if entry.verdict is Verdict.NEVER_UPDATED and entry.path not in allow]
        if kept:
            raise GradientFlowError(shortened([f"`{e.path}` is never updated in {self.steps} steps" for e in kept]))

    def __str__(self) -> str:
        lines = [f"after {self.steps} steps:"]
        for entry in self.variables[:20]:
            lines.append(f"  {entry.path:30} {entry.verdict.value:14} {entry.moved} of {entry.entries} entries moved")
            if entry.frozen_moved:
                lines.append(f"    {_sentence(entry)}")
        return "\n".join(lines)


def _sentence(entry: VariableUpdate) -> str:
    because = f" ({', '.join(entry.because)})" if entry.because else ""
    at = f", the first at {entry.first}" if entry.first else ""
    return f"`{entry.path}` moves although frozen: {entry.frozen_moved} of {entry.frozen} frozen entries{at}{because}"


def updates(
    step: Callable[[], Any],
    variables: Any,
    mask: Any = None,
    steps: int = 3,
) -> UpdateReport:
    """Run `step()` a few times and say which entries of the variables moved.

    Args:
        step: a training step without arguments.
        variables: a variable or a list of them.
        mask: what the gradients are multiplied with: 1 where an entry may move, 0 where it is frozen. One array for one
            variable, a list with one per variable (None for none), or a mapping from paths to arrays.
        steps: how often to run the step. Moments and decay show from the second one on.

    Returns:
        The report; `report.assert_frozen()` makes a test of it.

    Raises:
        ValueError: a mask does not fit its variable, or `steps` is less than 1.
        Exception: whatever `step` raises, unchanged.
    """
    import numpy as np

    if steps < 1:
        raise ValueError(f"probe.updates: steps must be at least 1, got {steps}")
    listed = list(variables) if isinstance(variables, list | tuple) else [variables]
    frames = frames_here()
    names = [own_name(variable) or name_in(frames, variable) or f"#{n}" for n, variable in enumerate(listed)]
    masks = _masks(mask, names, listed)
    before = [np.array(variable.numpy()) for variable in listed]
    watch = Watch()
    with watch:
        for _ in range(steps):
            step()
    entries = []
    for name, variable, old, allowed in zip(names, listed, before, masks, strict=True):
        entries.append(_compared(name, variable, old, allowed, watch))
    return UpdateReport(tuple(entries), steps, report_of(watch.account))


def _masks(mask: Any, names: Sequence[str], variables: Sequence[Any]) -> list[Any]:
    import numpy as np

    if mask is None:
        listed: list[Any] = [None] * len(variables)
    elif isinstance(mask, Mapping):
        unknown = [name for name in mask if name not in names]
        if unknown:
            raise ValueError(f"probe.updates: no variable is called {unknown[0]!r}; there are {list(names)}")
        listed = [mask.get(name) for name in names]
    elif isinstance(mask, list | tuple) and (len(variables) != 1 or len(mask) == 1):
        listed = list(mask)
    else:
        listed = [mask]
    if len(listed) != len(variables):
        raise ValueError(f"probe.updates: {len(listed)} masks for {len(variables)} variables")
    made: list[Any] = []
    for name, variable, part in zip(names, variables, listed, strict=True):
        if part is None:
            made.append(None)
            continue
        try:
            made.append(np.broadcast_to(np.asarray(part), tuple(variable.shape)) != 0)
        except ValueError as error:
            raise ValueError(
                f"probe.updates: the mask of `{name}` has shape {np.shape(part)}, the variable {tuple(variable.shape)}"
            ) from error
    return made


def _compared(name: str, variable: Any, old: Any, allowed: Any, watch: Watch) -> VariableUpdate:
    import numpy as np

    new = np.array(variable.numpy())
    changed = (
        old.view(np.uint8).reshape(*old.shape, -1) != new.view(np.uint8).reshape(*new.shape, -1)
        if (old.shape)
        else np.array([old.tobytes() != new.tobytes()])
    )
    moved = changed.any(-1) if old.shape else changed.reshape(())
    if allowed is None:
        allowed = np.full(old.shape, bool(getattr(variable, "trainable", True)))
    wrong = moved & ~allowed
    verdict = Verdict.MOVED if moved.any() else Verdict.NEVER_UPDATED
    if wrong.any():
        verdict = Verdict.FROZEN_MOVED
    elif not allowed.any():
        verdict = Verdict.MOVED if moved.any() else Verdict.FLOWS
    first = tuple(int(axis[0]) for axis in np.nonzero(wrong)) if wrong.any() and old.shape else None
    optimizer = watch.account.variables.optimizer_of(min(identities(variable)))
    because = features_that_move(optimizer, variable) if wrong.any() else ()
    return VariableUpdate(
        name, verdict, int(old.size), int(moved.sum()), int((~allowed).sum()), int(wrong.sum()), first, because
    )
