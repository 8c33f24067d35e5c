"""Measures which optimizers move masked-out entries when, and writes the table that gradlint ships.

python tools/measure_optimizers.py                  measure all, write gradlint/knowledge/measured_optimizers.json
python tools/measure_optimizers.py --only '*.Adam'  print the rows of these symbols, write nothing
python tools/measure_optimizers.py --check          measure all again, name what differs from the file: status 1

Legacy Keras is measured where `tf_keras` is installed. Where it is not, its rows stay as they are in the file.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import textwrap
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

DATA = Path(__file__).parent.parent / "gradlint" / "knowledge" / "measured_optimizers.json"


@dataclass
class Table:
    """The rows by symbol, what cannot be used with the reason, and the versions of what was measured."""

    versions: dict[str, str] = field(default_factory=dict)
    optimizers: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The data file: one class per line."""
        return (
            f'{{"versions":{_compact(dict(sorted(self.versions.items())))},\n'
            f'"optimizers":{{\n{_lines(self.optimizers)}\n}},\n'
            f'"missing":{{\n{_lines(self.missing)}\n}}}}\n'
        )

    def of(self, library: str) -> Table:
        """What it holds of one library."""
        return Table(
            {name: version for name, version in self.versions.items() if name == library},
            {symbol: row for symbol, row in self.optimizers.items() if row["library"] == library},
            {symbol: reason for symbol, reason in self.missing.items() if symbol.startswith(f"{library}.")},
        )

    def add(self, other: Table) -> None:
        """Take in the rows of another."""
        self.versions |= other.versions
        self.optimizers |= other.optimizers
        self.missing |= other.missing


def main() -> int:
    """Do what the options say; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PATTERN", default="*")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # legacy Keras writes a line for each `lr`

    table = measure(options.only)
    if options.check:
        return _check(table)
    if options.only != "*":
        print("\n".join(f"{symbol} {json.dumps(row, indent=1)}" for symbol, row in table.optimizers.items()))
        return 0
    for library in absent():
        kept = read().of(library)
        table.add(kept)
        print(f"{library} is not installed: its {len(kept.optimizers)} rows stay as they were written")
    print(f"{len(table.optimizers)} optimizers known, {len(table.missing)} cannot be used")
    DATA.write_text(table.text(), encoding="utf-8")
    return 0


def measure(pattern: str = "*") -> Table:
    """Measure the optimizers with such a symbol, of each library that is installed."""
    import tensorflow as tf

    from measuring.optimizer_classes import LIBRARIES, is_installed, optimizer_classes
    from measuring.optimizer_row import row_of

    table = Table({"tensorflow": tf.__version__})
    for library in filter(is_installed, LIBRARIES):
        table.versions[library] = __import__(library).__version__
        for shipped in optimizer_classes(library):
            if not fnmatch(shipped.symbol, pattern):
                continue
            try:
                table.optimizers[shipped.symbol] = row_of(shipped)
            except Exception as error:
                reason = "is a base class" if shipped.is_base else f"raises {type(error).__name__}: {error}"
                reason = textwrap.shorten(reason, 120, placeholder=" ...")
                table.missing |= {name: reason for name in shipped.symbols if name.startswith(f"{library}.")}
    return table


def read() -> Table:
    """The table as it was written last; empty before the first time."""
    return Table(**json.loads(DATA.read_text(encoding="utf-8"))) if DATA.exists() else Table()


def absent() -> list[str]:
    """The libraries that are not installed."""
    from measuring.optimizer_classes import LIBRARIES, is_installed

    return [library for library in LIBRARIES if not is_installed(library)]


def _check(table: Table) -> int:
    """Name each symbol of the table that the data file has otherwise."""
    written = read()
    known, wanted = written.optimizers | written.missing, table.optimizers | table.missing
    differing = [symbol for symbol, row in wanted.items() if known.get(symbol) != row]
    for symbol in differing:
        print(f"{symbol}: measured {wanted[symbol]}\n{symbol}: written  {known.get(symbol)}")
    for library in absent():
        print(f"{library} is not installed: its rows are not checked")
    print(f"{len(wanted)} symbols checked, {len(differing)} differ from the data file")
    return int(bool(differing))


def _lines(rows: dict[str, Any]) -> str:
    return ",\n".join(f"{json.dumps(symbol)}:{_compact(row)}" for symbol, row in sorted(rows.items()))


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
