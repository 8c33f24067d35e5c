"""Comparison of the data file with independent measurements (symbol, argument, verdict)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from measuring.table import read

WORDS = {"nonzero": "flows", "partially-zero": "partial-zero", "None": "none"}


@dataclass(frozen=True)
class Row:
    """One independent measurement beside the own one ("" where there is none)."""

    symbol: str
    argument: str
    theirs: str
    ours: str
    note: str


def rows(path: Path) -> list[Row]:
    """All rows of a file of independent measurements."""
    known = verdicts_by_name()
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                each["symbol"],
                each["argument"],
                WORDS.get(each["verdict"], each["verdict"]),
                known.get(each["symbol"], {}).get(each["argument"], ""),
                each["note"],
            )
            for each in csv.DictReader(file)
        ]


def verdicts_by_name() -> dict[str, dict[str, str]]:
    """Of each name of each function, the verdict under each name of each argument."""
    found: dict[str, dict[str, str]] = {}
    for symbol, row in read().symbols.items():
        verdicts = {}
        for each in row["arguments"]:
            verdicts[each["name"]] = each["verdict"]
            if "also" in each:
                verdicts[each["also"]] = each["verdict"]
        for name in (symbol, *row.get("aliases", ())):
            found[name] = verdicts
    return found


def compared(path: Path) -> str:
    """The share of symbols known and rows agreed, and every disagreement."""
    found = rows(path)
    symbols = {row.symbol for row in found}
    known = symbols & set(verdicts_by_name())
    agreed = [row for row in found if row.ours == row.theirs]
    lines = [
        f"{row.symbol} {row.argument}: here {row.ours or '-'}, there {row.theirs} [{row.note}]"
        for row in found
        if row.ours != row.theirs
    ]
    lines.append(f"symbols known: {len(known)} of {len(symbols)} ({len(known) / len(symbols):.1%})")
    lines.append(f"rows agreed: {len(agreed)} of {len(found)} ({len(agreed) / len(found):.1%})")
    return "\n".join(lines)
