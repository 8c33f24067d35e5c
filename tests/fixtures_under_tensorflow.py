"""What a fixture states in its header, and what TensorFlow showed: parsed, compared, written.

A header is one or more comment lines at the top of a fixture:

    # tensorflow: none encoder/kernel, #1    these sources, and no others, got None in some gradient call
    # tensorflow: none scale, ...            these and more
    # tensorflow: zero w                     likewise exact zeros
    # tensorflow: nan w                      likewise NaN
    # tensorflow: raises RuntimeError        the program ends in this exception
    # tensorflow: never-updated w            an optimizer was applied and these kept their values
    # tensorflow: frozen-moved w             these moved
    # tensorflow: flows                      no exception; no source got None, zero or NaN
    # tensorflow: asserts                    as flows; assert statements in the program prove what it shows
    # tensorflow: not run                    nothing in the program calls its functions, so a run would show nothing:
                                             only gradlint judges it (`fixtures/open_code`)

`python tests/fixtures_under_tensorflow.py [--write] [PROGRAM...]` prints the header that TensorFlow shows for each
program, and with `--write` puts it there.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from observer import Observation, observe

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
PREFIX = "# tensorflow:"
SOURCE_VERDICTS = ("none", "zero", "nan")
UPDATE_VERDICTS = ("never-updated", "frozen-moved")
NOT_RUN = "not run"
AND_MORE = "..."


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of a header."""

    verdict: str
    names: frozenset[str] = frozenset()
    exact: bool = True

    def __str__(self) -> str:
        names = [*sorted(self.names), *([] if self.exact else [AND_MORE])]
        return f"{PREFIX} {self.verdict} {', '.join(names)}".rstrip()


def all_fixtures() -> list[Path]:
    """The fixtures that run."""
    return [program for program in sorted(FIXTURES.rglob("*.py")) if runs(program.read_text(encoding="utf-8"))]


def runs(text: str) -> bool:
    return Statement(NOT_RUN) not in stated(text)


def stated(text: str) -> tuple[Statement, ...]:
    """The header of a program; ValueError says what is wrong with it."""
    return tuple(_statement(line) for line in text.splitlines() if line.startswith(PREFIX))


def _statement(line: str) -> Statement:
    if line[len(PREFIX) :].strip() == NOT_RUN:
        return Statement(NOT_RUN)
    verdict, _, rest = line[len(PREFIX) :].strip().partition(" ")
    names = [name.strip() for name in rest.split(",") if name.strip()]
    if verdict in ("flows", "asserts") and not names:
        return Statement(verdict)
    if verdict == "raises" and len(names) == 1:
        return Statement(verdict, frozenset(names))
    if verdict in (*SOURCE_VERDICTS, *UPDATE_VERDICTS) and names:
        exact = verdict in SOURCE_VERDICTS and AND_MORE not in names
        return Statement(verdict, frozenset(names) - {AND_MORE}, exact)
    raise ValueError(f"not a header that can be checked: {line!r}")


def expectations(text: str) -> set[tuple[int, str]]:
    """Row and code of each finding that the program's `# expect:` comments call for."""
    return {
        (row, code)
        for row, line in enumerate(text.splitlines(), 1)
        for code in re.findall(r"GL\d+", line.partition("# expect:")[2])
    }


def disagreements(text: str, seen: Observation) -> list[str]:
    """One sentence for each thing in which the header and TensorFlow differ."""
    statements = stated(text)
    if not statements:
        return [f"no `{PREFIX}` line; TensorFlow shows: {'; '.join(map(str, shown(text, seen)))}"]
    return [
        *_about_the_end(text, statements, seen),
        *_about_sources(statements, seen),
        *_about_updates(statements, seen),
    ]


def _about_the_end(text: str, statements: tuple[Statement, ...], seen: Observation) -> Iterator[str]:
    expected = next((name for s in statements if s.verdict == "raises" for name in s.names), None)
    if seen.raises != expected:
        yield f"stated end: {expected or 'normal'}; seen: {seen.raises or 'normal'} {seen.message}".rstrip()
    if any(s.verdict == "asserts" for s in statements) and not _has_assert(text):
        yield "the header says asserts, the program has no assert statement"


def _has_assert(text: str) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(text)))


def _about_sources(statements: tuple[Statement, ...], seen: Observation) -> Iterator[str]:
    for verdict in SOURCE_VERDICTS:
        of_this = [s for s in statements if s.verdict == verdict]
        names = frozenset[str]().union(*(s.names for s in of_this))
        got: frozenset[str] = getattr(seen, verdict)
        exact = all(s.exact for s in of_this)
        if got != names if exact else not names <= got:
            yield f"stated {verdict}: {sorted(names) or 'nothing'}; seen: {sorted(got) or 'nothing'}"
    healthy = any(s.verdict == "flows" for s in statements)
    if healthy and not (seen.flows or seen.none or seen.zero or seen.nan or seen.raises):
        yield "stated flows; no gradient was seen to flow"


def _about_updates(statements: tuple[Statement, ...], seen: Observation) -> Iterator[str]:
    for statement in statements:
        if statement.verdict == "never-updated" and not statement.names <= seen.stayed:
            yield f"stated never-updated: {sorted(statement.names)}; kept their values: {sorted(seen.stayed)}"
        if statement.verdict == "frozen-moved" and not statement.names <= seen.moved:
            yield f"stated frozen-moved: {sorted(statement.names)}; moved: {sorted(seen.moved)}"


def shown(text: str, seen: Observation) -> tuple[Statement, ...]:
    """The header that TensorFlow's behaviour calls for; statements about updates are a person's to write."""
    statements = [Statement(v, getattr(seen, v)) for v in SOURCE_VERDICTS if getattr(seen, v)]
    if seen.raises is not None:
        statements.append(Statement("raises", frozenset({seen.raises})))
    return tuple(statements) or (Statement("asserts" if _has_assert(text) else "flows"),)


def _main(arguments: list[str]) -> int:
    write = "--write" in arguments
    programs = [Path(a).resolve() for a in arguments if a != "--write"] or all_fixtures()
    status = 0
    for program, seen in observe(programs):
        text = program.read_text(encoding="utf-8")
        differences = disagreements(text, seen)
        name = program.relative_to(ROOT) if program.is_relative_to(ROOT) else program
        print(f"{name}: {'; '.join(map(str, shown(text, seen)))} ({seen.seconds:.1f} s)", flush=True)
        for difference in differences:
            status = 1
            print(f"    {difference}")
        if write and differences:
            rest = "\n".join(line for line in text.split("\n") if not line.startswith(PREFIX))
            program.write_text("\n".join([*map(str, shown(text, seen)), rest]), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
