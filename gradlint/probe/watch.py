"""`probe.watch()`: observe code that is not ours, unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from gradlint.probe.account import Account
from gradlint.probe.hub import HUB

if TYPE_CHECKING:
    from gradlint.probe.report import GradientReport


class Watch:
    """Observes every gradient and every optimizer update between entering and leaving.

    The program is not changed: no function is made to run eagerly, and no number differs (but see `locate_in_graphs`).
    A `tf.function` that was traced before is not observable, and is reported as such.
    """

    def __init__(self, *, entries: bool = True, locate_in_graphs: bool = False) -> None:
        """For the arguments see `watch`."""
        self._options = {"entries": entries, "locates_in_graphs": locate_in_graphs}
        self.account = Account(**self._options)
        self._report: GradientReport | None = None
        self._is_on = False
        self._was_on = False

    def __enter__(self) -> Watch:
        if self._is_on:
            raise RuntimeError("probe.watch: this watch is on already")
        self._is_on = True
        if self._was_on:
            self.account, self._report = Account(**self._options), None
        self._was_on = True
        HUB.join(self.account)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        HUB.leave(self.account)
        self._is_on = False
        self.account.close()

    @property
    def report(self) -> GradientReport:
        """What was observed.

        Raises:
            RuntimeError: the watch is still on.
        """
        from gradlint.probe.report import report_of

        if self._is_on:
            raise RuntimeError("probe.watch: the report is ready when the watch has ended")
        if self._report is None:
            self._report = report_of(self.account)
        return self._report

    def assert_flows(self, allow: Sequence[str] = ()) -> None:
        """As `GradientReport.assert_flows`."""
        self.report.assert_flows(allow)


def watch(*, entries: bool = True, locate_in_graphs: bool = False) -> Watch:
    """Observe existing code: `with probe.watch() as seen: ...`, then `seen.report`.

    Args:
        entries: follow which entries of variables of up to 200,000 entries ever got a gradient.
        locate_in_graphs: place zeros and NaN that come from the numbers also in compiled graphs, if they are small. It
            keeps more tensors alive there, so that the last bit of results can differ.

    Returns:
        A context manager. Watches nest; what is patched is restored when the last one ends, also after exceptions.
    """
    return Watch(entries=entries, locate_in_graphs=locate_in_graphs)
