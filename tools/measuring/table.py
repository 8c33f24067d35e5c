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
    failed: dict[str, list[str]] = field(default_factory=dict)  # recipes of known functions

    def text(self) -> str:
        """The data file: one symbol per line."""
        lines = [f"{json.dumps(name)}:{_compact(packed(row))}" for name, row in sorted(self.symbols.items())]
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
    return Table({symbol: unpacked(row) for symbol, row in data["symbols"].items()}, data["missing"])


def packed(row: dict[str, Any]) -> dict[str, Any]:
    """A row as it is written: a verdict per argument, and apart from them, in `more`, what else is known of some."""
    more = {
        each["name"]: {key: value for key, value in each.items() if key not in ("name", "verdict")}
        for each in row["arguments"]
    }
    more = {name: known for name, known in more.items() if known}
    written = row | {"arguments": {each["name"]: each["verdict"] for each in row["arguments"]}}
    return written | {"more": more} if more else written


def unpacked(written: dict[str, Any]) -> dict[str, Any]:
    """A row as it was measured."""
    more = written.get("more", {})
    row = {key: value for key, value in written.items() if key != "more"}
    arguments = [
        {"name": name, "verdict": verdict, **more.get(name, {})} for name, verdict in written["arguments"].items()
    ]
    return row | {"arguments": arguments}


def measure(wanted: Iterable[str] | None = None) -> Table:
    """Measure all public functions, or those with one of these symbols."""
    names = None if wanted is None else set(wanted)
    publics = [each for each in public_functions() if names is None or each.symbol in names]
    table = Table()
    for public, row in _measured_in_children(publics):
        if "missing" in row:
            table.missing[public.symbol] = row["missing"]
        else:
            if "failed" in row:
                table.failed[public.symbol] = row.pop("failed")
            table.symbols[public.symbol] = row
    return table


def _measured_in_children(publics: list[Public]) -> Iterator[tuple[Public, dict[str, Any]]]:
    """Each with its row. A crash or a hang costs one function, a new child goes on behind it."""
    done = 0
    while done < len(publics):
        for row in _rows_of_one_child(publics[done:]):
            yield publics[done], row
            done += 1


def _rows_of_one_child(publics: list[Public]) -> Iterator[dict[str, Any]]:
    """The rows in order, up to the first function that ends the child or does not return."""
    here, there = multiprocessing.get_context("fork").Pipe()
    child = multiprocessing.get_context("fork").Process(target=_measure_all, args=(publics, there), daemon=True)
    child.start()
    there.close()
    try:
        for _ in publics:
            if not here.poll(SECONDS):
                yield {"missing": f"does not return within {SECONDS:.0f} s"}
                return
            yield here.recv()
    except EOFError:
        child.join()
        yield {"missing": f"ends the process ({child.exitcode})"}
    finally:
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
