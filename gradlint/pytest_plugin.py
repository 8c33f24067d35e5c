"""pytest: the fixture `gradient_probe`, the marker `gradlint`, and `--gradlint`, which watches every test of a suite.

Thin, and loaded into every pytest run of an environment that holds gradlint: nothing of the probe, and nothing of
TensorFlow, is imported before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from gradlint.probe.pytest_watch import GradientProbe, SuiteFindings

_MARKER = (
    "gradlint(allow=[patterns], steps=N): watch the gradients of this test; it fails when one does not flow. `allow` "
    "takes paths of variables, codes and names of rules, with wildcards; `steps`: how often it is traced."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradlint", "gradients of TensorFlow and Keras")
    group.addoption(
        "--gradlint",
        nargs="?",
        const="report",
        default=None,
        choices=["report", "error"],
        help="Watch the gradients of every test and report what does not flow; `--gradlint=error` makes them fail.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("--gradlint") is None:
        return
    if not _has_tensorflow():
        raise pytest.UsageError("--gradlint: TensorFlow is not installed; `pip install tensorflow` (or tensorflow-cpu)")
    config.pluginmanager.register(_Suite(), "gradlint-suite")


@pytest.fixture
def gradient_probe(request: pytest.FixtureRequest) -> GradientProbe:
    """The probe, with the options of the test's `gradlint` marker: `trace`, `watch`, `updates`."""
    if not _has_tensorflow():
        pytest.skip("gradient_probe: TensorFlow is not installed; `pip install tensorflow` (or tensorflow-cpu)")
    from gradlint.probe.pytest_watch import GradientProbe

    return GradientProbe(*_options(request.node))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Watch a test that is marked, or every test under --gradlint."""
    marker = item.get_closest_marker("gradlint")
    suite = item.config.pluginmanager.get_plugin("gradlint-suite")
    if (marker is None and suite is None) or not _has_tensorflow():
        yield
        return
    from gradlint.probe.pytest_watch import watched

    allow, _ = _options(item)
    seen = watched()
    seen.__enter__()
    outcome = yield
    seen.__exit__(None, None, None)
    faults = seen.report.faults(allow)
    if suite is not None and faults:
        item.user_properties.append(("gradlint", suite.as_properties(faults)))
    if faults and (marker is not None or item.config.getoption("--gradlint") == "error"):
        if outcome.excinfo is None:
            seen.fail(outcome, faults)


def _options(node: pytest.Item) -> tuple[Sequence[str], int]:
    marker = node.get_closest_marker("gradlint")
    if marker is None:
        return (), 1
    unknown = set(marker.kwargs) - {"allow", "steps"}
    if marker.args or unknown:
        named = ", ".join([*map(repr, marker.args), *sorted(unknown)])
        raise pytest.UsageError(f"{node.nodeid}: the marker `gradlint` takes allow=[...] and steps=N, not {named}")
    allow = marker.kwargs.get("allow", ())
    steps = marker.kwargs.get("steps", 1)
    if not isinstance(steps, int) or steps < 1:
        raise pytest.UsageError(f"{node.nodeid}: the marker `gradlint` takes a whole number of steps, not {steps!r}")
    return ([allow] if isinstance(allow, str) else list(allow)), steps


def _has_tensorflow() -> bool:
    from importlib.util import find_spec

    return find_spec("tensorflow") is not None


class _Suite:
    """Gathers what the tests showed, also from the workers of pytest-xdist, and tells it at the end."""

    def __init__(self) -> None:
        self._found: SuiteFindings | None = None

    @staticmethod
    def as_properties(faults: Sequence[Any]) -> list[Any]:
        """The faults as plain data: xdist sends the properties of a test from its worker as such."""
        from gradlint.probe.pytest_watch import as_plain

        return [as_plain(fault) for fault in faults]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        for name, faults in report.user_properties:
            if name == "gradlint":
                from gradlint.probe.pytest_watch import SuiteFindings

                self._found = self._found or SuiteFindings()
                self._found.add(report.nodeid, cast(Any, faults))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("gradlint")
        if self._found is None:
            terminalreporter.write_line("every gradient that the tests asked for flows")
            return
        for line in self._found.lines():
            terminalreporter.write_line(line)
