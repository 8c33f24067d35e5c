"""Joining: one value for several ways."""

from __future__ import annotations

from gradlint.flow.escaping import Escaping
from gradlint.flow.objects import (
    Items,
)
from gradlint.flow.values import DType, How, Kind, Value


class Joining(Escaping):
    """One value for several ways."""

    def join(self, values: list[Value]) -> Value:
        """One value for several ways."""
        if not values:
            return self.unknown_global("<nothing>", "one of no values at all")
        if values[0].kind is Kind.IMPORTED and all(each is values[0] for each in values):
            return values[0]
        different: list[Value] = []
        for each in values:
            value = self.resolve(each) if each.kind is Kind.IMPORTED else each
            if not any(value is other or _same(value, other) for other in different):
                different.append(value)
        if len(different) == 1:
            return different[0]
        if all(isinstance(value.ref, Items) for value in different):
            return Value(Kind.LITERAL, How.FRESH, 0, ref=self.join_items([value.ref for value in different]))
        kinds = {value.kind for value in different}
        refs = {id(value.ref) for value in different if value.ref is not None}
        one = different[0]
        return Value(
            one.kind if len(kinds) == 1 and (len(refs) <= 1 or one.kind is Kind.TENSOR) else Kind.UNKNOWN,
            How.JOIN,
            self.tick(),
            ref=one.ref if len(refs) == 1 and len(kinds) == 1 else None,
            inputs=tuple(different),
            node=one.node,
            frame=self.frame,
            label="join",
            dtype=one.dtype if all(value.dtype is one.dtype for value in different) else DType.UNKNOWN,
        )

    def alike(self, left: tuple[Value, ...], right: tuple[Value, ...]) -> bool:
        """Whether two rows of values are surely the same objects or equal constants."""
        return len(left) == len(right) and all(a is b or _same(a, b) for a, b in zip(left, right, strict=True))

    def join_items(self, contents: list[Items]) -> Items:
        """One content for several ways: by position or key where they agree in shape."""
        first = contents[0]
        if all(
            each.exact and each.keys == first.keys and len(each.elements) == len(first.elements) for each in contents
        ):
            columns = zip(*(each.elements for each in contents), strict=True)
            return Items(tuple(self.join(list(column)) for column in columns), first.keys, exact=True)
        if all(each.ordered and len(each.elements) == len(first.elements) for each in contents):
            columns = zip(*(each.elements for each in contents), strict=True)
            return Items(tuple(self.join(list(column)) for column in columns), None, exact=False, ordered=True)
        every = [element for each in contents for element in each.elements]
        return Items((self.join(every),) if every else (), None, exact=False)


def _same(left: Value, right: Value) -> bool:
    if left.kind is Kind.LITERAL and right.kind is Kind.LITERAL:
        if isinstance(left.ref, Items) or isinstance(right.ref, Items):
            return False
        return type(left.ref) is type(right.ref) and bool(left.ref == right.ref)
    if left.kind is Kind.SYMBOL and right.kind is Kind.SYMBOL:
        return bool(left.ref == right.ref)
    if left.kind is right.kind and left.kind in (Kind.INSTANCE, Kind.LAYER, Kind.TAPE, Kind.CONTAINER, Kind.VARIABLE):
        return left.ref is not None and left.ref is right.ref
    return False
