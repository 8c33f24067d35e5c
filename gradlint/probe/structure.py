"""Zeros that no numbers can change: a cut inside control flow gives 0.0 in a graph where eager code gives None."""

from __future__ import annotations

from dataclasses import replace

from gradlint.probe.cut_search import CutFound, Question, inside_of_control_flow
from gradlint.probe.dataflow import slice_between


def is_structural(question: Question) -> CutFound | None:
    """The cut, when every way from the source to the target is cut in a body; else None."""
    ops = question.ops.ready() if hasattr(question.ops, "ready") else question.ops
    asked = replace(question, ops=ops)
    found = slice_between(asked.source, asked.target_numbers, ops)
    return inside_of_control_flow(asked, found)
