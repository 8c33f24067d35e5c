"""From what a run did to findings: one per cause, at the line that cuts, with every variable that it starves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gradlint import observed_rules
from gradlint.probe.account import Account
from gradlint.probe.cuts import CutFound
from gradlint.probe.observations import GradientCall, LayerSeen, MaskSeen, SourceSeen, VariableSeen
from gradlint.probe.places import Line, is_users
from gradlint.rule import Finding, Rule, Severity, Step, Trace
from gradlint.run_rules import stamped
from gradlint.verdicts import Cause, Origin, Verdict

_RULES = {
    Verdict.NONE: observed_rules.NONE_GRADIENT,
    Verdict.ZERO: observed_rules.ZERO_GRADIENT,
    Verdict.NAN: observed_rules.NAN_GRADIENT,
    Verdict.PARTIAL_ZERO: observed_rules.PARTIAL_ZERO,
}
_CONSEQUENCES = {
    Verdict.NONE: "None",
    Verdict.ZERO: "zero",
    Verdict.NAN: "NaN",
    Verdict.PARTIAL_ZERO: "zero in part",
}
_MOST_NAMES = 4


def run_findings(account: Account) -> list[Finding]:
    """What the run alone shows, in the order of files and lines."""
    found = [*_about_gradients(account), *_about_updates(account), *_unobserved(account)]
    found.sort(key=lambda finding: (finding.filename, finding.place.row, finding.place.column, finding.code))
    return found


def _about_gradients(account: Account) -> Iterator[Finding]:
    groups: dict[tuple[object, ...], tuple[Verdict, GradientCall, list[SourceSeen]]] = {}
    for call in account.gradients.calls.values():
        if not call.asked:
            continue
        if call.is_empty and account.variables.expects_sources:
            yield _empty(call)
        for source in call.sources:
            verdict = source.verdict()
            if verdict not in _RULES or (verdict is Verdict.PARTIAL_ZERO and not _is_mostly_dead(source)):
                continue
            key = (verdict, *_cause_key(call, source))
            groups.setdefault(key, (verdict, call, []))[2].append(source)
    for verdict, call, sources in groups.values():
        yield _starved(verdict, call, sources)


def _is_mostly_dead(source: SourceSeen) -> bool:
    return source.ever is not None and float(source.ever.mean()) <= 0.5


def _cause_key(call: GradientCall, source: SourceSeen) -> tuple[object, ...]:
    cut = source.cut
    if cut is None or cut.line is None:
        asked = call.asked[0]
        return (asked.filename, asked.row, cut.cause if cut else None)
    return (cut.line.filename, cut.line.row, cut.kind, cut.cause)


def _starved(verdict: Verdict, call: GradientCall, sources: list[SourceSeen]) -> Finding:
    cut = sources[0].cut
    names = list(dict.fromkeys(source.name for source in sources))
    line = cut.line if cut is not None and cut.line is not None else call.asked[0]
    words = (
        f"{_listed(names)} gets {_CONSEQUENCES[verdict]}"
        if len(names) == 1
        else (f"{_listed(names)} get {_CONSEQUENCES[verdict]}")
    )
    why = _why(verdict, cut, sources[0])
    severity = None
    if verdict is Verdict.ZERO and sources[0].structural:
        severity = Severity.ERROR
    finding = Finding(
        line.place,
        f"{words}: {why}" if why else words,
        trace=_trace(line, call, cut, sources),
        verdict=verdict,
        cause=cut.cause if cut is not None else None,
        variables=tuple(names),
        severity=severity,
    )
    return observed(_RULES[verdict], finding, line)


def observed(rule: Rule, finding: Finding, line: Line) -> Finding:
    """The finding as one of this rule, made by a run, in the file of this line."""
    return replace(stamped(rule, finding, line.filename), origin=Origin.RUN)


def _listed(names: list[str]) -> str:
    shown = [f"`{name}`" for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        return f"{', '.join(shown)} and {len(names) - _MOST_NAMES} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def _why(verdict: Verdict, cut: CutFound | None, source: SourceSeen) -> str:
    steps = _in_steps(verdict, source)
    if cut is None:
        return steps
    what = _what(cut)
    words = {
        Cause.OUTSIDE_TAPE: f"{what} runs while the tape is not recording",
        Cause.WRONG_TAPE: f"{what} is recorded by another tape only",
        Cause.NOT_WATCHED: f"{what} runs before the tape watches it" if cut.kind else "the tape does not watch it",
        Cause.NEVER_READ: "nothing reads it",
        Cause.NOT_IN_TARGET: "the target is not computed from it",
        Cause.LEFT_TENSORFLOW: f"{what} leaves TensorFlow",
        Cause.NON_DIFFERENTIABLE: f"{what} passes no gradient",
        Cause.INTEGER: f"{what} makes integers or booleans",
        Cause.STOPPED: f"{what} stops the gradient",
        Cause.CUSTOM_GRADIENT: f"the custom gradient around {what} gives none",
        Cause.STATE: f"{what} goes through state",
        Cause.DISCRETE_SAMPLE: f"{what} draws a discrete sample",
        Cause.CONSTANT: f"{what} passes zeros",
        Cause.SATURATED: f"{what} is saturated and passes zeros",
        Cause.UNSAFE_BRANCH: f"{what} is where numbers stop being finite",
    }.get(cut.cause, f"{what} cuts the flow")
    if source.structural:
        words += ", in every branch: a compiled graph makes None a zero"
    return f"{words}{', ' + steps if steps else ''}"


def _in_steps(verdict: Verdict, source: SourceSeen) -> str:
    if verdict is Verdict.NAN and source.first_nan:
        return f"first in step {source.first_nan}"
    if verdict is Verdict.ZERO and source.steps > 1:
        return f"in all {source.steps} steps"
    if verdict is Verdict.NONE and source.none < source.steps:
        return f"in {source.none} of {source.steps} steps"
    return ""


def layer_of(cut: CutFound) -> str:
    """The layers around the op that cuts, as its name in the graph tells them; "" for an op that ran eagerly."""
    return "/".join(cut.name.split("/")[:-1])


def _what(cut: CutFound) -> str:
    """The code that cuts, with the op and the layer."""
    line = cut.line
    code = f"`{code_of(line)}`" if line is not None and code_of(line) else ""
    kind = "" if cut.kind.startswith(("(", "__")) else cut.kind
    layer = layer_of(cut)
    details = f"{kind} in {layer}" if kind and layer else kind
    if not code:
        return details or "an operation"
    return f"{code} ({details})" if details else code


def code_of(line: Line) -> str:
    """The code that ran there, as far as it is known which part of the line it was."""
    text = line.text
    if line.column and line.row == line.end_row:
        import linecache

        text = linecache.getline(line.filename, line.row)[line.column - 1 : line.end_column - 1]
    text = " ".join(text.split("#")[0].split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _trace(at: Line, call: GradientCall, cut: CutFound | None, sources: list[SourceSeen]) -> Trace:
    lines: list[tuple[str, Line]] = []
    made = sources[0].made
    if made is not None:
        lines.append((f"`{sources[0].name}` made here", made))
    if cut is not None:
        lines.extend(cut.steps)
        lines.extend(("cut here" if place == 0 else "called here", line) for place, line in enumerate(cut.stack[:4]))
        if cut.far_stack and cut.far_stack[0] != at:
            lines.append((f"{cut.far_kind} passes no gradient here", cut.far_stack[0]))
    if call.tape_opened is not None:
        lines.append(("tape opened here", call.tape_opened))
    lines.extend(
        ("gradient asked here" if place == 0 else "called here", line) for place, line in enumerate(call.asked[:4])
    )
    return tuple(_steps(lines, at.filename))


def _steps(lines: Iterable[tuple[str, Line]], filename: str) -> Iterator[Step]:
    met: set[tuple[str, int]] = set()
    for words, line in lines:
        if (line.filename, line.row) in met or not is_users(line.filename):
            continue
        met.add((line.filename, line.row))
        yield Step(words, line.place, "" if line.filename == filename else line.filename)


def _empty(call: GradientCall) -> Finding:
    line = call.asked[0]
    finding = Finding(
        line.place,
        "no gradient is computed: the list of sources is empty",
        instead="read the variables after the model is built",
        trace=_trace(line, call, None, [SourceSeen("", False)]),
        verdict=Verdict.EMPTY_SOURCES,
    )
    return observed(observed_rules.EMPTY_SOURCES, finding, line)


def _unobserved(account: Account) -> Iterator[Finding]:
    for stack in dict.fromkeys(stack for stack in account.unobserved if stack):
        line = stack[0]
        finding = Finding(
            line.place,
            f"`{code_of(line)}` runs a function that was compiled before the watch: its gradients are not observable",
            instead="make or call the function for the first time under the watch",
            verdict=Verdict.NOT_OBSERVABLE,
        )
        yield observed(observed_rules.UNOBSERVED, finding, line)


def _about_updates(account: Account) -> Iterator[Finding]:
    frozen: dict[tuple[object, ...], list[VariableSeen]] = {}
    drifting: dict[tuple[object, ...], list[VariableSeen]] = {}
    swapped: dict[tuple[object, ...], list[VariableSeen]] = {}
    for seen in account.variables.seen.values():
        if seen.mask is not None and seen.mask.moved:
            yield _masked(seen, seen.mask)
        if seen.moved_when_frozen and (seen.applied_at or seen.made):
            at = (seen.applied_at or seen.made)[0]
            frozen.setdefault((at.filename, at.row), []).append(seen)
        elif seen.moved_without_gradient and seen.applied_at:
            at = seen.applied_at[0]
            drifting.setdefault((at.filename, at.row), []).append(seen)
        if seen.updated_with and seen.applied_at:
            at = seen.applied_at[0]
            swapped.setdefault((at.filename, at.row), []).append(seen)
    for group in swapped.values():
        yield _swapped(group)
    for group in frozen.values():
        yield _frozen(group)
    for group in drifting.values():
        yield _drifting(group)
    if account.variables.updates:
        yield from _dropped(account)
        yield from _about_layers(account)


def _masked(seen: VariableSeen, mask: MaskSeen) -> Finding:
    entries = f"{mask.moved} {'entry' if mask.moved == 1 else 'entries'}"
    why = (
        f"{seen.optimizer} got a gradient that is not masked there"
        if mask.bypassed
        else f"{' and '.join(seen.features) or seen.optimizer} moved entries whose gradient is zero"
    )
    finding = Finding(
        mask.line.place,
        f"`{seen.name}` moves although frozen: {entries} that are masked in every update changed, as {why}",
        trace=tuple(_steps([*_made(seen), ("masked here", mask.line), *_applied(seen)], mask.line.filename)),
        verdict=Verdict.FROZEN_MOVED,
        variables=(seen.name,),
    )
    return observed(observed_rules.FROZEN_MOVED, finding, mask.line)


def _frozen(group: list[VariableSeen]) -> Finding:
    first = group[0]
    line = (first.applied_at or first.made)[0]
    names = [seen.name for seen in group]
    moves = "moves" if len(names) == 1 else "move"
    steps = [*_made(first), *((("frozen here", first.frozen_at[0]),) if first.frozen_at else ()), *_applied(first)]
    finding = Finding(
        line.place,
        f"{_listed(names)} {moves} although frozen: {first.optimizer} got what `trainable` says to leave alone",
        instead="take the list of variables, and compile or trace the step, after freezing",
        trace=tuple(_steps(steps, line.filename)),
        verdict=Verdict.FROZEN_MOVED,
        variables=tuple(names),
    )
    return observed(observed_rules.FROZEN_MOVED, finding, line)


def _drifting(group: list[VariableSeen]) -> Finding:
    """Embeddings and dead units do that in correct programs."""
    first, line = group[0], group[0].applied_at[0]
    names = [seen.name for seen in group]
    count = sum(seen.moved_without_gradient for seen in group)
    entries = "1 entry moves" if count == 1 else f"{count} entries move"
    because = f", by {' and '.join(first.features)}" if first.features else ""
    finding = Finding(
        line.place,
        f"{entries} in {_listed(names)} whose gradient was zero at every update{because}",
        trace=tuple(_steps([*_made(first), *_applied(first)], line.filename)),
        verdict=Verdict.FROZEN_MOVED,
        variables=tuple(names),
        severity=Severity.INFO,
    )
    return observed(observed_rules.FROZEN_MOVED, finding, line)


def _swapped(group: list[VariableSeen]) -> Finding:
    first, line = group[0], group[0].applied_at[0]
    others = len(group) - 1
    more = f", and {others} more {'is' if others == 1 else 'are'} like it" if others else ""
    finding = Finding(
        line.place,
        f"`{first.name}` is updated with the gradient of `{first.updated_with}`{more}",
        instead="pair each gradient with its variable: zip both lists in the same order",
        trace=tuple(_steps([*_made(first), *_applied(first)], line.filename)),
        verdict=Verdict.WRONG_UPDATE,
        variables=tuple(seen.name for seen in group),
    )
    return observed(observed_rules.MISMATCHED_PAIR, finding, line)


def _dropped(account: Account) -> Iterator[Finding]:
    """Variables whose gradient was asked for beside that of others, and which alone no optimizer got."""
    variables = account.variables.seen
    for call in account.gradients.calls.values():
        asked = {source.number: source for source in call.sources if source.is_variable and source.number in variables}
        if not call.asked or not any(variables[number].applied for number in asked):
            continue
        left = [
            source.name
            for number, source in asked.items()
            if source.verdict() is Verdict.FLOWS and not variables[number].applied and variables[number].moved is False
        ]
        if left:
            gets = "gets a gradient" if len(left) == 1 else "get gradients"
            finding = Finding(
                call.asked[0].place,
                f"{_listed(left)} {gets} that no optimizer gets",
                trace=_trace(call.asked[0], call, None, [SourceSeen("", True)]),
                verdict=Verdict.NEVER_UPDATED,
                variables=tuple(left),
                severity=Severity.INFO,
            )
            yield observed(observed_rules.UNTRAINED_VARIABLE, finding, call.asked[0])


def _made(seen: VariableSeen) -> list[tuple[str, Line]]:
    return [(f"`{seen.name}` made here", seen.made[0])] if seen.made else []


def _applied(seen: VariableSeen) -> list[tuple[str, Line]]:
    return [("applied here" if place == 0 else "called here", line) for place, line in enumerate(seen.applied_at[:4])]


def _about_layers(account: Account) -> Iterator[Finding]:
    """Layers that are part of what is trained, and are not trained themselves."""
    anew: dict[tuple[object, ...], list[LayerSeen]] = {}
    untracked: dict[tuple[object, ...], list[LayerSeen]] = {}
    variables = account.variables.seen
    for layer in account.layers.seen:
        if not layer.made:
            continue
        at = (layer.made[0].filename, layer.made[0].row)
        seen = [variables[number] for number in layer.variables or () if number in variables]
        if not layer.called and layer.owner_called:
            yield _layers([layer], Severity.INFO, f"`{layer.name}` is never trained: nothing calls it", ())
        if not seen or any(each.applied or not each.trainable for each in seen):
            continue
        if layer.made_in is not None:
            anew.setdefault((*at, layer.made_in[0]), []).append(layer)
        elif layer.is_untracked:
            untracked.setdefault((*at, layer.parent), []).append(layer)
    for group in anew.values():
        if len({layer.made_in for layer in group}) > 1:  # once in each run: to build many in the first is usual
            yield _layers(
                group, None, f"the weights of {group[0].kind} are never updated: it is made {len(group)} times here", ()
            )
    for group in untracked.values():
        names = _listed([layer.name for layer in group])
        words = f"the weights of {names} are never updated: `{group[0].parent}` calls and does not track them"
        yield _layers(group, None, words, tuple(layer.name for layer in group))


def _layers(group: list[LayerSeen], severity: Severity | None, words: str, names: tuple[str, ...]) -> Finding:
    line = group[0].made[0]
    steps = [("made here" if place == 0 else "called here", each) for place, each in enumerate(group[0].made[:4])]
    steps.extend(("layer called here", each) for each in group[0].called_at[:2])
    finding = Finding(
        line.place,
        words,
        trace=tuple(_steps(steps, line.filename)),
        verdict=Verdict.NEVER_UPDATED,
        variables=names,
        severity=severity,
    )
    return observed(observed_rules.UNTRAINED_VARIABLE, finding, line)
