"""What a person thinks of each error and warning in the ecosystem: true, false or arguable, and why.

Kept in `ecosystem_judgements.json`. A finding is known by package, path, code and the text of its line, so that an
entry outlives other lines that move; findings that share all four share the judgement.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

FILE = Path(__file__).with_name("ecosystem_judgements.json")


class Judgement(Enum):
    """A person's word on a finding."""

    TRUE = "true"
    FALSE = "false"
    ARGUABLE = "arguable"
    NONE = ""


@dataclass(frozen=True, slots=True, order=True)
class Sign:
    """What a finding is recognised by."""

    package: str
    path: str
    code: str
    line: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One judgement. `message` is what the tool said when the entry was written: a help for the reader."""

    sign: Sign
    judgement: Judgement = Judgement.NONE
    why: str = ""
    message: str = ""


def read() -> dict[Sign, Entry]:
    entries = json.loads(FILE.read_text("utf-8")) if FILE.exists() else []
    return {entry.sign: entry for entry in map(_entry, entries)}


def _entry(raw: dict[str, str]) -> Entry:
    sign = Sign(raw["package"], raw["path"], raw["code"], raw["line"])
    try:
        judgement = Judgement(raw["judgement"])
    except ValueError:
        raise SystemExit(f"{FILE.name}: {sign.path}: {raw['judgement']!r} is none of true, false, arguable") from None
    if judgement is not Judgement.NONE and not raw["why"]:
        raise SystemExit(f"{FILE.name}: {sign.path}: {sign.line}: a judgement needs its reason (why)")
    return Entry(sign, judgement, raw["why"], raw.get("message", ""))


def updated(known: dict[Sign, Entry], found: Iterable[Entry]) -> dict[Sign, Entry]:
    """An entry for every finding: judged ones as they were, new ones without a judgement; entries of no finding go."""
    entries = {entry.sign: entry for entry in found}
    return {sign: replace(known.get(sign, entry), message=entry.message) for sign, entry in entries.items()}


def write(entries: dict[Sign, Entry]) -> None:
    """One entry a line, sorted: a changed judgement is a changed line."""
    lines = [json.dumps(_raw(entry), ensure_ascii=False) for _, entry in sorted(entries.items())]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


def _raw(entry: Entry) -> dict[str, str]:
    sign = entry.sign
    return {
        "package": sign.package,
        "path": sign.path,
        "code": sign.code,
        "line": sign.line,
        "judgement": entry.judgement.value,
        "why": entry.why,
        "message": entry.message,
    }
