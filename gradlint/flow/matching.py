"""Matching: `match` statements: the case that is surely taken, or all that may be."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable

from gradlint.flow.branches import run_arms
from gradlint.flow.enumerations import Member
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.names import bind_name
from gradlint.flow.sequences import get_item, known_elements, unpack
from gradlint.flow.truth import is_function_of_library, truth_of
from gradlint.flow.values import How, Kind, Value

#: Kinds of values of which the class is known.
_KNOWN = frozenset({Kind.LITERAL, Kind.CONTAINER, Kind.FUNCTION, Kind.CLASS, Kind.INSTANCE, Kind.LAYER, Kind.LIBRARY})
#: Classes of which `case str(text)` binds the object itself.
_BIND_THEMSELVES = frozenset("bool bytearray bytes dict float frozenset int list set str tuple".split())


def run_match(it: Interpreter, node: ast.Match) -> None:
    """Run the case that is surely taken, else every one that may be."""
    subject = it.evaluate(node.subject)

    def arm(case: ast.match_case, *, asks: bool) -> Callable[[], None]:
        def run() -> None:
            _bind_pattern(it, case.pattern, subject)
            if case.guard is not None and asks:
                it.evaluate(case.guard)
            it.run_body(case.body)

        return run

    possible: list[ast.match_case] = []
    for case in node.cases:
        taken = _matches(it, case.pattern, subject)
        if taken and case.guard is not None:
            _bind_pattern(it, case.pattern, subject)
            taken = truth_of(it, case.guard)
        if taken and not possible:
            arm(case, asks=False)()
            return
        if taken is not False:
            possible.append(case)
        if taken:
            break
    else:
        run_arms(it, [*(arm(each, asks=True) for each in possible), lambda: None])
        return
    run_arms(it, [arm(each, asks=True) for each in possible])


def _matches(it: Interpreter, pattern: ast.pattern, subject: Value) -> bool | None:
    """Whether a value surely has this form, or surely has not."""
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=inner) if inner is not None:
            return _matches(it, inner, subject)
        case ast.MatchOr(patterns=patterns):
            found = [_matches(it, each, subject) for each in patterns]
            return True if True in found else None if None in found else False
    if subject.how is How.JOIN or not (subject.kind in _KNOWN or is_function_of_library(subject)):
        return None
    match pattern:
        case ast.MatchValue(value=node):
            return _equals(it, subject, it.evaluate(node))
        case ast.MatchSingleton(value=value):
            return subject.ref is value if subject.kind is Kind.LITERAL else False
        case ast.MatchSequence(patterns=patterns):
            return _matches_sequence(it, patterns, subject)
        case ast.MatchMapping(keys=keys, patterns=patterns):
            return _matches_mapping(it, [it.evaluate(each) for each in keys], patterns, subject)
        case ast.MatchClass():
            return _matches_class(it, pattern, subject)
    return None


def _equals(it: Interpreter, subject: Value, value: Value) -> bool | None:
    if subject.kind is not Kind.LITERAL:
        return False if value.kind is Kind.LITERAL and subject.kind is not Kind.INSTANCE else None
    if value.kind is not Kind.LITERAL or value.how is not How.FRESH:
        return None
    if isinstance(value.ref, Member) != isinstance(subject.ref, Member):
        return None
    return bool(value.ref == subject.ref)


def _all(found: Iterable[bool | None]) -> bool | None:
    answers = list(found)
    return False if False in answers else None if None in answers else True


def _matches_sequence(it: Interpreter, patterns: list[ast.pattern], subject: Value) -> bool | None:
    if subject.kind is not Kind.CONTAINER:
        return None if subject.kind in (Kind.INSTANCE, Kind.LAYER, Kind.LIBRARY) else False
    if subject.ref.type not in ("list", "tuple"):
        return False if subject.ref.type in ("dict", "set") else None
    elements = known_elements(it, subject)
    if elements is None or any(isinstance(each, ast.MatchStar) for each in patterns):
        return None
    if len(elements) != len(patterns):
        return False
    return _all(_matches(it, each, element) for each, element in zip(patterns, elements, strict=True))


def _matches_mapping(it: Interpreter, keys: list[Value], patterns: list[ast.pattern], subject: Value) -> bool | None:
    if subject.kind is not Kind.CONTAINER:
        return None if subject.kind in (Kind.INSTANCE, Kind.LAYER, Kind.LIBRARY) else False
    items = it.items(subject)
    if subject.ref.type != "dict":
        return False
    if not items.exact or items.keys is None or not all(each.kind is Kind.LITERAL for each in keys):
        return None
    held = dict(zip(items.keys, items.elements, strict=True))
    if any(each.ref not in held for each in keys):
        return False
    return _all(_matches(it, each, held[key.ref]) for key, each in zip(keys, patterns, strict=True))


def _matches_class(it: Interpreter, pattern: ast.MatchClass, subject: Value) -> bool | None:
    cls = it.evaluate(pattern.cls)
    name = cls.ref.rpartition(".")[2] if cls.kind is Kind.SYMBOL else ""
    if cls.kind is Kind.SYMBOL and cls.ref == f"builtins.{name}" and isinstance(getattr(builtins, name, None), type):
        if subject.kind is Kind.LITERAL:
            is_one: bool | None = (
                None if isinstance(subject.ref, Member) else isinstance(subject.ref, getattr(builtins, name))
            )
        elif subject.kind is Kind.CONTAINER:
            is_one = subject.ref.type == name if name in _BIND_THEMSELVES else None
        else:
            is_one = False if name in _BIND_THEMSELVES and subject.kind is not Kind.INSTANCE else None
    elif cls.kind is Kind.CLASS and subject.kind is Kind.INSTANCE:
        lineage = subject.ref.cls.lineage()
        is_open = subject.ref.open_self or subject.ref.cls.open_base
        is_one = True if cls.ref in lineage else None if is_open else False
    else:
        return False if cls.kind is Kind.CLASS and subject.kind in (Kind.LITERAL, Kind.CONTAINER) else None
    if not is_one:
        return is_one
    if pattern.patterns:
        is_itself = name in _BIND_THEMSELVES and len(pattern.patterns) == 1
        return _matches(it, pattern.patterns[0], subject) if is_itself else None
    values = [it.get_attribute(subject, each, pattern) for each in pattern.kwd_attrs]
    return _all(_matches(it, each, value) for each, value in zip(pattern.kwd_patterns, values, strict=True))


def _bind_pattern(it: Interpreter, pattern: ast.pattern, subject: Value) -> None:
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                _bind_pattern(it, inner, subject)
            if name is not None:
                bind_name(it, name, subject)
        case ast.MatchStar(name=name):
            if name is not None:
                bind_name(it, name, it.part(subject, pattern, item=True))
        case ast.MatchSequence(patterns=patterns):
            starred = any(isinstance(each, ast.MatchStar) for each in patterns)
            parts = None if starred else unpack(it, subject, len(patterns), pattern)
            for i, each in enumerate(patterns):
                _bind_pattern(it, each, parts[i] if parts else it.part(subject, pattern, item=True))
        case ast.MatchMapping(patterns=patterns, rest=rest, keys=keys):
            for key, each in zip(keys, patterns, strict=False):
                key_value = it.evaluate(key)
                _bind_pattern(it, each, get_item(it, subject, key_value, pattern))
            if rest is not None:
                bind_name(it, rest, it.part(subject, pattern))
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=keyword_patterns):
            is_itself = isinstance(cls, ast.Name) and cls.id in _BIND_THEMSELVES and len(patterns) == 1
            for each in patterns:
                _bind_pattern(it, each, subject if is_itself else it.part(subject, pattern))
            for name_, each in zip(names, keyword_patterns, strict=False):
                _bind_pattern(it, each, it.get_attribute(subject, name_, pattern))
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                _bind_pattern(it, each, subject)
