"""`gradlint ops`: what was measured of TensorFlow and Keras functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gradlint.cli.completion import complete_symbol
from gradlint.cli.output import answer_option

if TYPE_CHECKING:
    from gradlint.knowledge.measured import MeasuredArgument, MeasuredSymbol


@click.command(short_help="Show what TensorFlow functions do to gradients.")
@click.argument("symbols", nargs=-1, metavar="[SYMBOL]...", shell_complete=complete_symbol)
@click.option("--all", "every", is_flag=True, help="List the functions through which every gradient flows too.")
@answer_option
@click.pass_context
def ops(ctx: click.Context, symbols: tuple[str, ...], every: bool, output_format: str) -> None:
    """Show which arguments of functions get a gradient, as it was measured under TensorFlow.

    SYMBOL is a name such as tf.math.round, tf.keras.losses.MeanSquaredError or keras.ops.sum. Without one, the
    functions are listed that do not let every gradient flow.
    """
    found, unknown = _found(symbols) if symbols else (_listed(every), [])
    if output_format == "json":
        import json

        click.echo(json.dumps([_as_json(word, known) for word, known in found], indent=2))
    elif symbols:
        if found:
            click.echo("\n\n".join(_as_text(word, known) for word, known in found))
    else:
        width = max(len(word) for word, _ in found)
        for word, known in found:
            click.echo(f"{word:{width}}  {_summary(known)}")
    for word in unknown:
        click.echo(f"gradlint: {_no_such_symbol(word)}", err=True)
    if unknown:
        ctx.exit(2)


def _found(words: tuple[str, ...]) -> tuple[list[tuple[str, MeasuredSymbol]], list[str]]:
    """What is known under each word as it was written, and the words under which nothing is."""
    from gradlint.knowledge.measured import by_ending, measured

    found, unknown = [], []
    for word in words:
        endings = by_ending(word)
        known = measured(word) or (measured(endings[0]) if len(endings) == 1 else None)
        if known is None:
            unknown.append(word)
        else:
            found.append((word, known))
    return found, unknown


def _listed(every: bool) -> list[tuple[str, MeasuredSymbol]]:
    from gradlint.knowledge.measured import all_measured
    from gradlint.verdicts import Verdict

    return [
        (known.symbol, known)
        for known in all_measured()
        if every or any(each.verdict is not Verdict.FLOWS for each in known.arguments)
    ]


def _no_such_symbol(word: str) -> str:
    from gradlint.knowledge.measured import near_matches

    near = " or ".join(f'"{name}"' for name in near_matches(word))
    return f'no measured symbol "{word}"; did you mean {near}?' if near else f'no measured symbol "{word}"'


def _summary(known: MeasuredSymbol) -> str:
    return ", ".join(f"{each.name} {each.verdict.value}" for each in known.arguments) or "takes no float tensor"


def _as_text(word: str, known: MeasuredSymbol) -> str:
    names = [name for name in (known.symbol, *known.aliases) if name != word]
    lines = [f"{word} ({known.version})"]
    if names:
        lines.append(f"  also called {', '.join(names)}")
    if known.missing or not known.arguments:
        lines.append(f"  not measured: {known.missing}" if known.missing else "  takes no float tensor")
    columns = [(each.name, each.verdict.value, each.op, _note(each)) for each in known.arguments]
    widths = [max((len(row[place]) for row in columns), default=0) for place in range(3)]
    for row in columns:
        cells = [f"{text:{width}}" for text, width in zip(row[:3], widths, strict=True) if width]
        lines.append(f"  {'  '.join([*cells, row[3]])}".rstrip())
    instead = _instead(known)
    if instead:
        lines.append(f"  instead: {instead}")
    return "\n".join(lines)


def _note(argument: MeasuredArgument) -> str:
    if argument.graph is None:
        return argument.note
    return "; ".join(filter(None, (argument.note, f"{argument.graph.value} under tf.function")))


def _instead(known: MeasuredSymbol) -> str:
    """What to use, where an argument gets nothing."""
    from gradlint.knowledge.alternatives import alternative_to
    from gradlint.verdicts import Verdict

    starved = {Verdict.NONE, Verdict.ZERO, Verdict.NAN, Verdict.RAISES}
    if not any(starved & {each.verdict, *each.outputs} for each in known.arguments):
        return ""
    alternative = alternative_to(known.symbol)
    return str(alternative) if alternative else ""


def _as_json(word: str, known: MeasuredSymbol) -> dict[str, Any]:
    """`symbol` is as it was asked for; an argument that is known by its place too is listed under both names."""
    arguments = [_argument_as_json(each, name) for each in known.arguments for name in (each.name, each.also) if name]
    row: dict[str, Any] = {
        "symbol": word,
        "arguments": arguments,
        "version": known.version,
        "canonical": known.symbol,
        "aliases": list(known.aliases),
        "outputs": [each.value for each in known.outputs],
    }
    instead = _instead(known)
    if instead:
        row["instead"] = instead
    if known.missing:
        row["not_measured"] = known.missing
    return row


def _argument_as_json(argument: MeasuredArgument, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "verdict": argument.verdict.value, "note": _note(argument), "op": argument.op}
    if argument.outputs:
        row["outputs"] = [each.value for each in argument.outputs]
    return row
