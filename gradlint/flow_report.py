"""Decisions: what the flow analysis decided per gradient call, and what it gave up, where.

Made by `flow/`, shown by `gradlint flow`. They exist so that silence never reads as approval.
"""

from __future__ import annotations

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


def decided_share(decisions: Iterable[GradientDecision]) -> tuple[int, int]:
    """How many sources have a verdict, and how many sources there are."""
    sources = [source for decision in decisions for source in decision.sources]
    return sum(source.verdict is not None for source in sources), len(sources)
