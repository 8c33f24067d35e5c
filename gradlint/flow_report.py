"""Decisions: what the flow analysis decided per gradient call, and what it gave up, where.

Made by `flow/`, shown by `gradlint flow`. They exist so that silence never reads as approval.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gradlint.rule import Place
from gradlint.verdicts import Cause, Verdict


@dataclass(frozen=True, slots=True)
class SourceDecision:
    """One source of one gradient call: a verdict, or unknown since a place.

    `verdict` is None when the analysis gave up; then `because` says why and `place` where.
    With a verdict other than `flows`, `place` and `cause` are those of the cut.
    """

    source: str
    verdict: Verdict | None
    cause: Cause | None = None
    place: Place | None = None
    because: str = ""
    filename: str = ""
    """Where `place` is, when that is another file than the gradient call's."""


@dataclass(frozen=True, slots=True)
class GradientDecision:
    """One gradient call, and what was decided of each of its sources.

    `asked` is one of `gradient`, `jacobian`, `batch_jacobian`, `jvp`, `gradients`, `minimize`, `fit`.
    """

    place: Place
    asked: str
    function: str
    target: str
    sources: tuple[SourceDecision, ...]
    filename: str = ""
    """Where it stands, when that is a module which the analysed file imports."""
    is_reached: bool = True
    """Whether what was followed led there. If not, nothing is known, not even how many sources there are."""


def decided_share(decisions: Iterable[GradientDecision]) -> tuple[int, int]:
    """How many sources have a verdict, and how many sources there are."""
    sources = [source for decision in decisions for source in decision.sources]
    return sum(source.verdict is not None for source in sources), len(sources)


def percent(decided: int, total: int) -> int:
    """The share in full percent: 100 stands for all of them alone."""
    share = round(100 * decided / total) if total else 0
    return min(share, 99) if decided < total else share


def once(told: Iterable[tuple[str, GradientDecision]]) -> list[tuple[str, GradientDecision]]:
    """Each gradient call once, with the file it stands in, of what was told with each of several files.

    That of an imported module is told with every file that leads there; with what it is called by more is known.
    """
    best: dict[tuple[str, int, int, int], tuple[str, GradientDecision]] = {}
    for name, decision in told:
        filename = decision.filename or name
        key = (os.path.abspath(filename), decision.place.cell, decision.place.row, decision.place.column)
        if key not in best or _rank(decision) < _rank(best[key][1]):
            best[key] = filename, decision
    return list(best.values())


def _rank(decision: GradientDecision) -> tuple[bool, int, int]:
    verdicts = [source.verdict for source in decision.sources]
    return not decision.is_reached, verdicts.count(None), verdicts.count(Verdict.FLOWS)


def commonest_reasons(decisions: Iterable[GradientDecision], most: int = 3) -> list[tuple[str, int]]:
    """Why sources have no verdict, the most frequent first, with how many these are.

    Reasons that differ in the code that they quote are one.
    """
    reasons = [source.because for decision in decisions for source in decision.sources if source.verdict is None]
    kinds = Counter(map(_without_code, reasons))
    texts: dict[str, set[str]] = {}
    for reason in reasons:
        texts.setdefault(_without_code(reason), set()).add(reason)
    ranked = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))[:most]
    return [(next(iter(texts[kind])) if len(texts[kind]) == 1 else kind, count) for kind, count in ranked]


def _without_code(reason: str) -> str:
    return re.sub("`[^`]*`", "`...`", reason) or "nothing is known"
