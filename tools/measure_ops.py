"""Measures what public TensorFlow and Keras functions do to gradients, and writes the table that gradlint ships.

python tools/measure_ops.py                       measure everything, write gradlint/knowledge/measured_ops.json
python tools/measure_ops.py --list-missing        the same, and name what could not be measured, with the reason
python tools/measure_ops.py --only 'tf.nn.*'      print the rows of these symbols, write nothing
python tools/measure_ops.py --check               measure everything again, name what differs from the file: status 1
python tools/measure_ops.py --check --sample 100  the same with so many symbols, always the same ones
python tools/measure_ops.py --compare CSV         compare the file with independent measurements
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import zlib
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
if TYPE_CHECKING:
    from measuring.table import Table


def main() -> int:
    """Do what the options say; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list-missing", action="store_true")
    parser.add_argument("--only", metavar="PATTERN")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sample", metavar="COUNT", type=int)
    parser.add_argument("--compare", metavar="CSV", type=Path)
    options = parser.parse_args()
    if options.compare:
        from measuring.compare import compared

        print(compared(options.compare))
        return 0

    from measuring.table import DATA, measure

    table = measure(_symbols(options.only, options.sample))
    if options.check:
        return _check(table)
    if options.only:
        print("\n".join(f"{symbol} {json.dumps(row, indent=1)}" for symbol, row in table.symbols.items()))
        return 0
    print(_state(table, list_missing=options.list_missing))
    DATA.write_text(table.text(), encoding="utf-8")
    return 0


def _symbols(pattern: str | None, sample: int | None) -> list[str] | None:
    """The symbols that one of these means, or None for all."""
    from measuring.discovery import public_functions

    if pattern is None and sample is None:
        return None
    found = [
        public.symbol
        for public in public_functions()
        if any(fnmatch(name, pattern or "*") for name in (public.symbol, *public.aliases))
    ]
    return sorted(found, key=lambda symbol: zlib.crc32(symbol.encode()))[: sample or len(found)]


def _check(table: Table) -> int:
    """Name each symbol of the table that the data file has otherwise."""
    from measuring.table import read

    written = read()
    differing = [symbol for symbol, row in table.symbols.items() if written.symbols.get(symbol) != row]
    differing += [symbol for symbol, reason in table.missing.items() if written.missing.get(symbol) != reason]
    for symbol in differing:
        print(f"{symbol}: measured {table.symbols.get(symbol) or table.missing.get(symbol)}")
        print(f"{symbol}: written  {written.symbols.get(symbol) or written.missing.get(symbol)}")
    print(f"{len(table.symbols) + len(table.missing)} symbols checked, {len(differing)} differ from the data file")
    return int(bool(differing))


def _state(table: Table, *, list_missing: bool) -> str:
    names = sum(1 + len(row.get("aliases", ())) for row in table.symbols.values())
    verdicts = Counter(each["verdict"] for row in table.symbols.values() for each in row["arguments"])
    lines = [
        f"{len(table.symbols)} functions known under {names} names, {sum(verdicts.values())} arguments: "
        + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()),
        f"{len(table.missing)} not measured",
        *(f"recipe of {symbol} fails: {problem}" for symbol, each in table.failed.items() for problem in each),
    ]
    if list_missing:
        lines += [f"  {symbol}: {reason}" for symbol, reason in table.missing.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
