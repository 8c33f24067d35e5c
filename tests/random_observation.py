"""What a program's own run gives each source of each gradient call, by the place of the call.

`observer.py` names sources by variable and adds up over a program; here each call is told apart. The program is
rewritten so that every gradient call goes through `note`, which appends one line to a file beside the program.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gradlint.config import Settings
from gradlint.merging import FileResult, check_bytes
from gradlint.verdicts import Verdict
from observer import observe

ASKING = frozenset({"gradient", "jacobian"})
RAISED = "raised"
NOTE = """\
def _note(_row, _column, _texts, _asking, _target, _sources, **_options):
    import json
    def flat(text, value):
        if isinstance(value, dict):
            for key in sorted(value):
                yield from flat(f"{text}[{key!r}]", value[key])
        elif isinstance(value, (list, tuple)):
            for place, each in enumerate(value):
                yield from flat(f"{text}[{place}]", each)
        else:
            yield text, value
    def write(outcomes):
        with open(__file__ + ".seen", "a", encoding="utf-8") as file:
            file.write(json.dumps([_row, _column, outcomes]) + "\\n")
    try:
        found = _asking(_target, _sources, **_options)
    except RuntimeError as error:
        write([["non-persistent" in str(error) and "raised" or "other", str(error)[:80]]])
        raise
    if isinstance(_texts, list):
        pairs = [pair for text, each in zip(_texts, found) for pair in flat(text, each)]
    else:
        pairs = list(flat(_texts, found))
    write([[text, "none" if value is None else "flows"] for text, value in pairs])
    return found
_note.autograph_info__ = {}
"""


Place = tuple[int, int]
Seen = dict[Place, list[list[tuple[str, str]]]]


class _Noting(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        row, column = node.lineno, node.col_offset + 1
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr not in ASKING or len(node.args) != 2:
            return node
        sources = node.args[1]
        texts: ast.expr = ast.Constant(ast.unparse(sources))
        if isinstance(sources, ast.List | ast.Tuple):
            texts = ast.List([ast.Constant(ast.unparse(each)) for each in sources.elts], ast.Load())
        noted = [ast.Constant(row), ast.Constant(column), texts, function, *node.args]
        return ast.Call(ast.Name("_note", ast.Load()), noted, node.keywords)


def noting(text: str) -> str:
    """The program with every gradient call written down as it happens."""
    tree = _Noting().visit(ast.parse(text))
    return NOTE + ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def seen_beside(path: Path) -> Seen:
    """What the program at this path wrote down."""
    found: Seen = {}
    record = Path(f"{path}.seen")
    if record.exists():
        for line in record.read_text(encoding="utf-8").splitlines():
            row, column, sources = json.loads(line)
            found.setdefault((row, column), []).append([(text, outcome) for text, outcome in sources])
    return found


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A promise of gradlint that TensorFlow broke."""

    claim: str  # flows, none, GL109 or GL009
    row: int
    source: str
    cause: str
    seen: str

    def __str__(self) -> str:
        return f"line {self.row}: `{self.source}`: gradlint says {self.claim} {self.cause}, TensorFlow {self.seen}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A program judged and run."""

    disagreements: tuple[Disagreement, ...]
    decided: int
    sources: int
    claims: tuple[tuple[str, str], ...] = ()  # verdict and cause of what was checked


#: How `gradlint flow` calls the members of a set beside those that starve.
_OTHERS = ", the others"


def compare(result: FileResult, seen: Seen, *, ended: bool) -> Comparison:
    """Every promise against what ran; `none` is held against a program only when it came to its end."""
    found: list[Disagreement] = []
    checked: list[tuple[str, str]] = []
    decided = sources = 0
    for finding in result.findings:
        if finding.code == "GL009":
            found.append(Disagreement("GL009", finding.place.row, "", finding.message, ""))
        if finding.code == "GL109" and ended and any(row == finding.place.row for row, _ in seen):
            found.append(Disagreement("GL109", finding.place.row, "", "", "does not raise"))
    for decision in result.decisions:
        executions = seen.get((decision.place.row, decision.place.column), [])
        for position, source in enumerate(decision.sources):
            sources += 1
            decided += source.verdict is not None
            if source.verdict is None or not executions:
                continue
            # Parts of a set that starve are told apart from the others, by names of their own: places say nothing then.
            whole = not any(each.source.endswith(_OTHERS) for each in decision.sources)
            asked = len(decision.sources) if whole else 0
            outcomes = [_of(source.source.removesuffix(_OTHERS), position, asked, each) for each in executions]
            outcomes = [each for each in outcomes if each]
            if not outcomes:
                continue
            cause = source.cause.value if source.cause else ""
            checked.append((source.verdict.value, cause))
            starved = [each == {"none"} for each in outcomes]
            wrong = source.verdict is Verdict.FLOWS and any(starved)
            wrong = wrong or (source.verdict is Verdict.NONE and ended and not any(starved))
            if wrong:
                told = f"{sum(starved)} of {len(starved)} None"
                found.append(Disagreement(source.verdict.value, decision.place.row, source.source, cause, told))
    return Comparison(tuple(found), decided, sources, tuple(checked))


def _of(text: str, position: int, asked: int, execution: list[tuple[str, str]]) -> set[str]:
    named = {outcome for each, outcome in execution if each == text}
    if named and RAISED not in named:
        return named
    if any(each in (RAISED, "other") for each, _ in execution):
        return set()
    inside = {outcome for each, outcome in execution if each.startswith(f"{text}[")}
    if inside:
        return inside
    return {execution[position][1]} if len(execution) == asked else set()


def observed(programs: Iterable[tuple[str, str]], folder: Path) -> Iterator[tuple[str, Seen, str | None]]:
    """Run named programs; for each its name, what it wrote down, and the exception that ended it."""
    paths: list[Path] = []
    for name, text in programs:
        path = folder / f"{name}.py"
        path.write_text(noting(text), encoding="utf-8")
        Path(f"{path}.seen").unlink(missing_ok=True)
        paths.append(path)
    for path, observation in observe(paths):
        raises = None if observation.raises is None else f"{observation.raises}: {observation.message}"
        yield path.stem, seen_beside(path), raises


def judged(text: str) -> FileResult:
    """What gradlint says of the program."""
    return check_bytes(text.encode(), "program.py", Settings())
