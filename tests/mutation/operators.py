"""The table of operators, and all mutants of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mutation import cuts, recording, updates, zeros
from mutation.edits import Mutant
from mutation.source import Ask, Source, asks

Operator = Callable[[Ask], Iterator[Mutant]]

RECORDING: dict[str, Operator] = {
    "move-before": recording.move_before,
    "move-after": recording.move_after,
    "forward-out": recording.forward_out,
    "derived-out": recording.derived_out,
    "other-tape": recording.other_tape,
}
CUTS: dict[str, Operator] = {
    "numpy": cuts.to_numpy,
    "int-cast": cuts.int_cast,
    "stop-gradient": cuts.stop_gradient,
    "rounded": cuts.rounded,
    "forward-stopped": cuts.forward_stopped,
    "forward-rounded": cuts.forward_rounded,
    "forward-threshold": cuts.forward_threshold,
    "assignment-rebound": cuts.assignment_rebound,
}
UPDATES: dict[str, Operator] = {
    "other-list-zipped": updates.other_list_zipped,
    "reversed-zip": updates.reversed_zip,
}
ZEROS: dict[str, Operator] = {
    "zeroed": zeros.zeroed,
    "subtracted": zeros.subtracted,
    "forward-sign": zeros.forward_sign,
    "layer-uncalled": zeros.layer_uncalled,
}
OPERATORS = RECORDING | CUTS | UPDATES | ZEROS


def mutants(source: Source, operators: Sequence[str]) -> Iterator[Mutant]:
    """The mutants of the file by operator and row; a text that two gradient calls share is given once."""
    found = asks(source)
    for name in operators:
        seen = set()
        for ask in found:
            for mutant in OPERATORS[name](ask):
                if mutant.text not in seen:
                    seen.add(mutant.text)
                    yield mutant
