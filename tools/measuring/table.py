"""The table: every public function measured, in a child process that may die, and written one line per symbol."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from measuring.discovery import Public, public_functions, versions

DATA = Path(__file__).parent.parent.parent / "gradlint" / "knowledge" / "measured_ops.json"
SECONDS = 60.0


@dataclass
class Table:
    """What is known, and of the rest why not."""

    symbols: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The data file: one symbol per line."""
        lines = [f"{json.dumps(name)}:{_compact(row)}" for name, row in sorted(self.symbols.items())]
        return (
            f'{{"versions":{_compact(versions())},\n"symbols":{{\n'
            + ",\n".join(lines)
            + "\n},\n"
            + self._missing_text()
        )

    def _missing_text(self) -> str:
        lines = [f"{json.dumps(name)}:{_compact(reason)}" for name, reason in sorted(self.missing.items())]
        return '"missing":{\n' + ",\n".join(lines) + "\n}}\n"


def read() -> Table:
    """The table as it was written last."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    return Table(data["symbols"], data["missing"])


def measure(wanted: Iterable[str] | None = None) -> Table:
    """Measure all public functions, or those with one of these symbols."""
    names = None if wanted is None else set(wanted)
    publics = [each for each in public_functions() if names is None or each.symbol in names]
    table = Table()
    for public, row in _measured_in_children(publics):
        if "missing" in row:
            table.missing[public.symbol] = row["missing"]
        else:
            table.symbols[public.symbol] = row
    return table


def _measured_in_children(publics: list[Public]) -> Iterator[tuple[Public, dict[str, Any]]]:
    """Each with its row. A crash or a hang costs one function, a new child goes on behind it."""
    hangs = f"does not return within {SECONDS:.0f} s"
    context = multiprocessing.get_context("fork")
    done = 0
    while done < len(publics):
        here, there = context.Pipe()
        child = context.Process(target=_measure_all, args=(publics[done:], there), daemon=True)
        child.start()
        there.close()
        while done < len(publics):
            try:
                row = here.recv() if here.poll(SECONDS) else {"missing": hangs}
            except EOFError:
                child.join()
                row = {"missing": f"ends the process ({child.exitcode})"}
            yield publics[done], row
            done += 1
            if (not child.is_alive() and not here.poll()) or row.get("missing") == hangs:
                break
        child.kill()
        child.join()


def _measure_all(publics: list[Public], pipe: Connection) -> None:
    import tensorflow as tf

    from measuring.row import row_of

    tf.get_logger().setLevel("ERROR")
    for public in publics:
        try:
            pipe.send(row_of(public))
        except Exception as error:
            pipe.send({"missing": f"{type(error).__name__}: {error}"[:200]})


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
