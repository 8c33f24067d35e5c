"""Machine-made faults in real training code: how many does gradlint catch?

    python tests/mutants.py [--operators a,b] [--limit N] [--list-missed] [--show-only]

The code is that of the ecosystem packages (`ecosystem_packages.py`). A mutant is one file with one change that is a
fault for certain; a finding (error or warning) at the rows of the fault, which the untouched file has not, catches it.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from ecosystem_packages import cache_folder, packages
from mutation.edits import Mutant
from mutation.measure import Decided, Measured, decided_share, measure
from mutation.operators import CUTS, OPERATORS, RECORDING, UPDATES, ZEROS, mutants
from mutation.source import Source

# Rewritten by machine to run without TensorFlow: `tf` there is an imitation.
_WITHOUT_TENSORFLOW = "tensorflow_probability/substrates/"
_SHOWN_REASONS = 20


def main() -> int:
    options = _options()
    cache = cache_folder(options.cache)
    found = [(package.name, path) for package in packages(cache) for path in package.tape_files()]
    files = [
        (path.relative_to(cache).as_posix(), path) for _, path in found if _WITHOUT_TENSORFLOW not in path.as_posix()
    ]
    read = [(Source.read(name, path), path) for name, path in files]
    sources = [(source, path) for source, path in read if source is not None]
    made = [mutant for source, _ in sources for mutant in mutants(source, options.operators)]
    made = _first_of_each(made, options.limit)
    print(f"{len(made)} mutants of {len(sources)} files with tapes")
    if options.show_only:
        _show(made, {source.name: source for source, _ in sources})
        return 0
    measured = measure([source for source, _ in sources], made)
    _print_caught(measured, options.operators)
    _print_untouched(measured, [source for source, _ in sources])
    _print_decided(decided_share([path for _, path in sources]))
    if options.list_missed:
        _print_missed(measured)
    if measured.errors:
        print(measured.errors, file=sys.stderr)
    return 1 if measured.errors else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--operators",
        type=_operators,
        default=[*RECORDING, *CUTS, *UPDATES, *ZEROS],
        help=f"of {', '.join(OPERATORS)}; or all",
    )
    parser.add_argument("--limit", type=int, help="at most this many mutants per operator")
    parser.add_argument("--list-missed", action="store_true", help="name the mutants that were not caught")
    parser.add_argument("--show-only", action="store_true", help="print the mutants as differences, judge nothing")
    parser.add_argument("--cache", help="the folder of the packages")
    return parser.parse_args()


def _operators(text: str) -> list[str]:
    names = list(OPERATORS) if text == "all" else text.split(",")
    unknown = [name for name in names if name not in OPERATORS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no operator {unknown[0]!r}; known: {', '.join(OPERATORS)}")
    return names


def _first_of_each(made: Iterable[Mutant], limit: int | None) -> list[Mutant]:
    by_operator: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in made:
        by_operator[mutant.operator].append(mutant)
    return [mutant for name in OPERATORS for mutant in by_operator[name][:limit]]


def _print_caught(measured: Measured, operators: Sequence[str]) -> None:
    total, caught = Counter[str](), Counter[str]()
    for outcome in measured.outcomes:
        total[outcome.mutant.operator] += 1
        caught[outcome.mutant.operator] += bool(outcome.caught_by)
    for name in operators:
        print(f"  {name:18} {_share(caught[name], total[name])}")
    groups = (
        ("recording faults", RECORDING), ("cut faults", CUTS), ("update faults", UPDATES), ("zero faults", ZEROS),
    )  # fmt: skip
    for title, group in groups:
        chosen = [name for name in operators if name in group]
        if chosen:
            print(f"  {title:18} {_share(sum(caught[n] for n in chosen), sum(total[n] for n in chosen))}")


def _share(part: int, whole: int) -> str:
    return f"{part:5} of {whole:5}" + (f"  {100 * part / whole:5.1f}%" if whole else "")


def _print_untouched(measured: Measured, sources: Sequence[Source]) -> None:
    lines = sum(len(source.lines) for source in sources)
    number = len(measured.untouched)
    print(
        f"untouched: {number} findings (errors and warnings) in {lines} lines: {1e5 * number / lines:.1f} per 100,000"
    )
    for finding in measured.untouched:
        print(f"  {finding.path}:{finding.row}: {finding.severity} {finding.code} {finding.message}")


def _print_decided(decided: Decided) -> None:
    print(f"decided sources of the untouched files: {_share(decided.decided, decided.sources).strip()}")
    for reason, number in sorted(decided.reasons.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN_REASONS]:
        print(f"  {number:5}  {reason}")
    for failure in decided.failed:
        print(f"  flow failed: {failure}")


def _print_missed(measured: Measured) -> None:
    print("missed:")
    for outcome in measured.outcomes:
        mutant = outcome.mutant
        if not outcome.caught_by:
            print(f"  {mutant.operator}: {mutant.name}:{min(mutant.rows)} in {mutant.function}: {mutant.fault}")


def _show(made: Iterable[Mutant], sources: dict[str, Source]) -> None:
    for mutant in made:
        print(f"--- {mutant.operator}: {mutant.name} in {mutant.function}: {mutant.fault}; rows {sorted(mutant.rows)}")
        before, after = sources[mutant.name].lines, mutant.text.split("\n")
        print("\n".join(list(difflib.unified_diff(before, after, lineterm=""))[2:]))


if __name__ == "__main__":
    sys.exit(main())
