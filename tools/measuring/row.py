"""A row: what is written of one function. Made of observations alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import keras

from measuring.discovery import Public
from measuring.guilty import guilty_op, op_that_raises
from measuring.inputs import DOMAINS, Through
from measuring.observe import (
    FLOWS,
    NAN,
    NONE,
    PARTIAL,
    RAISES,
    ZERO,
    Observation,
    Result,
    first_line,
    in_eager,
    in_graph,
    only_in_graph,
    tensors,
)
from measuring.recipe import Recipe, ladder, parameters_of, with_floats_of_defaults
from measuring.recipes import special_recipes
from measuring.recipes.keras_losses import built, updated, updated_with_values
from measuring.recipes.short import VECTOR, floats, recipe
from measuring.skipped import REASONS
from measuring.zeroing import op_that_zeroes

DOMAIN_WORDS = {"mixed": "of both signs", "unit": "in (0, 1)", "gt1": "above 1"}


def row_of(public: Public) -> dict[str, Any]:
    """The row of a function, or {"missing": reason}. `failed`: what its other recipes raised."""
    reason = REASONS.get(public.symbol)
    if reason:
        return {"missing": reason}
    arguments: list[dict[str, Any]] = []
    dtypes: tuple[str, ...] = ()
    failed: list[str] = []
    worked = False
    for each, required in _recipes(public):
        if worked and not required:
            continue
        try:
            found, classes = _observed(public.function, each)
        except Exception as error:
            failed.append(f"{each.variant}: {first_line(error)}" if each.variant else first_line(error))
            continue
        worked = True
        dtypes = dtypes or classes
        arguments += [row for row in found if row["name"] not in {known["name"] for known in arguments}]
        if not required:
            for more in with_floats_of_defaults(each, public.function):
                arguments += _bonus(public.function, more)
    if not worked:
        return {"missing": failed[-1] if failed else "takes no float tensor"}
    row = _row(public, arguments, dtypes)
    return row | {"failed": failed} if failed and required else row


def _row(public: Public, arguments: list[dict[str, Any]], dtypes: tuple[str, ...]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    if public.aliases:
        row["aliases"] = list(public.aliases)
    row["parameters"] = _parameters(public.function)
    row["outputs"] = list(dtypes)
    row["arguments"] = arguments
    return row


def _parameters(function: Any) -> list[str]:
    """The names of what can be given by place, in order; of a class, of what its objects are called with."""
    called: Any = function
    if inspect.isclass(function):
        method = "call" if issubclass(function, keras.losses.Loss) else "update_state"
        called = getattr(function, method)
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [each.name for each in parameters_of(called) if each.kind in by_place]
    return [name for name in found if name not in ("self", "name")]


def _recipes(public: Public) -> Iterator[tuple[Recipe, bool]]:
    """Recipes, and whether each is to be measured; of the others the first that works is."""
    special = special_recipes()
    written = next((special[name] for name in (public.symbol, *public.aliases) if name in special), None)
    if written is not None:
        yield from ((each, True) for each in written)
        return
    if inspect.isclass(public.function):
        yield from ((each, False) for each in _recipes_of_class(public.function))
        return
    yield from ((each, False) for each in ladder(public.function))


def _recipes_of_class(function: Any) -> Iterator[Recipe]:
    """Recipes to try in turn for a class of losses or metrics, which is built without arguments."""
    metric = issubclass(function, keras.metrics.Metric)
    if metric and "values" in inspect.signature(function.update_state).parameters:
        yield recipe(call_with=updated_with_values, values=VECTOR)
        return
    for shape in ((3, 4), (3, 1), (4,)):
        pair = floats(*shape, domain="unit")
        yield recipe(call_with=updated if metric else built, y_true=pair, y_pred=pair)


def _bonus(function: Callable[..., Any], more: Recipe) -> list[dict[str, Any]]:
    """The row of the last argument of a recipe, where the function takes a tensor for it."""
    try:
        found, _ = _observed(function, more)
    except Exception:
        return []
    return found[-1:]


def _observed(function: Callable[..., Any], each: Recipe) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """A row per watched input of one recipe. Raises what the call raises in every domain."""
    keras.utils.set_random_seed(1)
    run = each.bound(function)
    results, error = _in_all_domains(run, each)
    if not results and isinstance(error, RuntimeError) and "eager" in str(error):
        results = {DOMAINS[0]: only_in_graph(run, each.values(DOMAINS[0]))}
    if not results:
        raise error or RuntimeError("no domain")
    first = next(iter(results.values()))
    rows = []
    for number, (label, leaf) in enumerate(each.watched()):
        found = {domain: result.inputs[number] for domain, result in results.items()}
        domain = next((name for name, one in found.items() if one.verdict != NAN), next(iter(found)))
        row: dict[str, Any] = {"name": label + (f" ({each.variant})" if each.variant else "")}
        row["verdict"] = found[domain].verdict
        values = each.values(domain)
        if row["verdict"] != FLOWS:
            row["op"] = _op(each.bound(function, stepped=True), each.stepped(values), number, found[domain])
        row["note"] = _note(found, domain, results[domain], leaf)
        if len(found[domain].outputs) > 1:
            row["outputs"] = list(found[domain].outputs)
        graph = in_graph(run, values, number).verdict
        if graph != row["verdict"]:
            row["graph"] = graph
        if each.also is not None:
            row["also"] = f"arg{number}" + (f" ({each.also})" if each.also else "")
        rows.append({key: value for key, value in row.items() if value not in ("", [])})
    return rows, first.dtypes


def _op(run: Callable[..., Any], values: list[Any], number: int, one: Observation) -> str:
    if one.verdict == RAISES:
        return op_that_raises(one.error, run, values)
    if one.verdict in (ZERO, PARTIAL):
        return op_that_zeroes(one.verdict, run, values, number, tensors)
    return guilty_op(run, values, number, tensors)


def _in_all_domains(run: Callable[..., Any], each: Recipe) -> tuple[dict[str, Result], Exception | None]:
    results: dict[str, Result] = {}
    seen: dict[bytes, Result] = {}
    error: Exception | None = None
    for domain in DOMAINS:
        values = each.values(domain)
        key = b"".join(value.tobytes() for value in values)
        try:
            results[domain] = seen[key] if key in seen else in_eager(run, values)
            seen[key] = results[domain]
        except Exception as raised:
            error = error or raised
            if not results and domain == "mixed" and not each.watched():
                break
    return results, error


def _note(found: dict[str, Any], domain: str, result: Result, leaf: Any) -> str:
    """What a person should know beyond the verdict."""
    parts = []
    one = found[domain]
    if one.error:
        parts.append(one.error)
    if isinstance(leaf, Through):
        parts.append(f"given as {leaf.words}")
    if result.dtypes and not {"float", "complex"} & set(result.dtypes):
        parts.append(f"the result is {' and '.join(dict.fromkeys(result.dtypes))}")
    elif not result.dtypes:
        parts.append("the result holds no tensor")
    if domain != next(iter(DOMAINS)) and next(iter(DOMAINS)) in found:
        parts.append(f"with inputs {DOMAIN_WORDS[domain]}")
    others = [(name, other.verdict) for name, other in found.items() if other.verdict != one.verdict]
    parts += [f"{verdict} with inputs {DOMAIN_WORDS[name]}" for name, verdict in others]
    if len(set(one.outputs)) > 1 and one.verdict != NONE:
        parts.append(f"per output: {', '.join(one.outputs)}")
    return "; ".join(parts)
