"""What the pytest plugin does once a test asks for it: the fixture's methods, and the sum over a test suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradlint.probe.report import GradientReport, message_of
from gradlint.probe.trace import trace
from gradlint.probe.updates import UpdateReport, updates
from gradlint.probe.watch import Watch, watch
from gradlint.rule import Finding

_MOST_TESTS = 5


class GradientProbe:
    """The fixture `gradient_probe`: the probe with the options of the test's marker."""

    def __init__(self, allow: Sequence[str] = (), steps: int = 1) -> None:
        self._allow = allow
        self._steps = steps

    def trace(
        self, fn: Callable[..., Any], *args: Any, variables: Sequence[Any] | None = None, **kwargs: Any
    ) -> GradientReport:
        """As `gradlint.probe.trace`."""
        return trace(fn, *args, variables=variables, **{"steps": self._steps, **kwargs})

    def watch(self) -> Watch:
        """As `gradlint.probe.watch`."""
        return watch()

    def updates(self, step: Callable[[], Any], variables: Any, mask: Any = None, steps: int = 3) -> UpdateReport:
        """As `gradlint.probe.updates`."""
        return updates(step, variables, mask, steps)

    def assert_flows(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> GradientReport:
        """Trace the function and check that every variable gets a gradient, those of the marker's `allow` excepted.

        Raises:
            GradientFlowError: one does not.
        """
        report = self.trace(fn, *args, **kwargs)
        report.assert_flows(self._allow)
        return report


class WatchedTest(Watch):
    """The watch over one test."""

    def fail(self, outcome: Any, faults: Sequence[Finding]) -> None:
        """Have the test fail with what was found."""
        import pytest

        error = pytest.fail.Exception(message_of(faults), pytrace=False)
        if hasattr(outcome, "force_exception"):
            outcome.force_exception(error)
        else:  # pluggy before 1.1
            outcome._excinfo = (type(error), error, None)


def watched() -> WatchedTest:
    """A watch for one test."""
    return WatchedTest()


def as_plain(fault: Finding) -> list[Any]:
    """The fault as data that can be sent between processes."""
    return [fault.code, fault.name, fault.filename, fault.place.row, fault.message, list(fault.variables)]


@dataclass(slots=True)
class _Cause:
    message: str
    name: str
    tests: list[str] = field(default_factory=list)
    variables: dict[str, None] = field(default_factory=dict)


class SuiteFindings:
    """The faults of a test suite, one entry per cause, with the tests and variables that it concerns."""

    def __init__(self) -> None:
        self._causes: dict[tuple[str, str, int], _Cause] = {}

    def add(self, test: str, faults: Sequence[Sequence[Any]]) -> None:
        """Take in what one test showed (`as_plain`)."""
        for code, name, filename, row, message, variables in faults:
            cause = self._causes.setdefault((filename, code, row), _Cause(message, f"{code} {name}"))
            cause.tests.append(test)
            cause.variables.update(dict.fromkeys(variables))

    def lines(self) -> Iterator[str]:
        """The section of the summary."""
        import os

        for (filename, _, row), cause in sorted(self._causes.items(), key=lambda item: item[0]):
            shown = os.path.relpath(filename)
            yield f"{shown if not shown.startswith('..') else filename}:{row}: {cause.name}: {cause.message}"
            tests = list(dict.fromkeys(cause.tests))
            more = f" and {len(tests) - _MOST_TESTS} more" if len(tests) > _MOST_TESTS else ""
            yield f"    in {', '.join(tests[:_MOST_TESTS])}{more}"
        count = len(self._causes)
        yield f"{count} {'cause' if count == 1 else 'causes'} in all"
