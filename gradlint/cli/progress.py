"""A progress bar on standard error, for people: on a terminal, and only when a run takes longer than a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_PATIENCE = 1.0  # seconds


class Progress:
    """Counts files; draws once it is worth looking at. rich is imported only then."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._drawn: tuple[Bar, TaskID] | None = None
        self._wanted = sys.stderr is not None and sys.stderr.isatty()
        self._start = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._drawn:
            self._drawn[0].stop()

    def advance(self, files: int) -> None:
        """Count files that are done."""
        self._done += files
        if not self._wanted:
            return
        if self._drawn is None:
            if time.monotonic() - self._start < _PATIENCE:
                return
            self._drawn = self._draw()
        bar, task = self._drawn
        bar.update(task, completed=self._done)

    def _draw(self) -> tuple[Bar, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("checking"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("files"),
            console=Console(stderr=True),
            transient=True,
        )
        bar.start()
        return bar, bar.add_task("checking", total=self._total)
