"""Reach: walks of the value graph. Which ancestors does a tape connect to a target, and by which way?

The forward facts (which tape recorded which operation) are on the nodes; here they are read from
the target backwards, once per gradient call, and again along one way for the one that is starved.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from gradlint.flow.asking import SourceAsked
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import members_within, surely_within
from gradlint.flow.objects import HeapObject, Instance, Variable, VariableSet
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.knowledge.conventions import is_loss_object
from gradlint.ops import table as ops
from gradlint.ops.op import Role
from gradlint.verdicts import Cause

_RECORDED = (How.OPERATION, How.GRADIENT)


@dataclass(slots=True)
class Reach:
    """What a target may depend on as far as some tapes recorded it."""

    serials: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)  # all inputs by data, recorded or not
    members: set[int] = field(default_factory=set)
    opaque: list[Value] = field(default_factory=list)  # calls that the tapes may have recorded
    calls: list[Value] = field(default_factory=list)  # layers and models called under the tapes
    symbolic: Value | None = None  # a Keras tensor: a model whose call could not be followed
    loose: list[Value] = field(default_factory=list)  # unknowns that an operation took in: perhaps variables

    @property
    def is_closed(self) -> bool:
        """Whether nothing that could be, or could hold, a source was met: the target is a mere number to the tapes."""
        return not (self.members or self.opaque or self.loose) and self.symbolic is None


def reach(
    it: Interpreter, targets: Iterable[Value], bits: int, *, trusted: Callable[[Value], bool] | None = None
) -> Reach:
    """Walk back from the targets along what the tapes in `bits` may have recorded.

    A `trusted` call is taken to use what it is given, and nothing else.
    """
    found = Reach()
    stack = list(targets)
    while stack:
        value = stack.pop()
        if value.serial in found.serials and value.serial:
            continue
        found.serials.add(value.serial)
        how = value.how
        if how is How.JOIN:
            stack.extend(value.inputs)
        elif how in _RECORDED:
            found.taken.update(each.serial for each in value.inputs)
            if value.possible & bits:
                stack.extend(value.inputs)
                if value.label == "call":
                    found.calls.append(value)
            elif value.kind is Kind.UNKNOWN:
                found.loose.append(value)
                stack.extend(value.inputs)
        elif how is How.OPAQUE_CALL:
            if trusted is not None and trusted(value):
                stack.extend(_held(it, value.inputs[1:]))
            elif value.possible & bits:
                found.opaque.append(value)
                stack.extend(_held(it, value.inputs))
                stack.extend(each for clock, each in it.escaped_tensors[-200:] if clock <= value.serial)
            elif not value.is_computed:
                found.loose.append(value)
        elif value.is_opaque:
            found.loose.append(value)
            stack.extend(value.inputs)  # what it was read out of may have been returned by a recorded call
        elif value.kind is Kind.METHOD:
            found.loose.append(value)
            stack.append(value.ref.receiver)
        elif value.kind is Kind.LIBRARY:
            found.loose.append(value)
            stack.extend(it.reachable(value.ref))
        elif value.kind is Kind.INSTANCE:
            stack.extend(it.reachable(value.ref)[:64])  # something was read out of it that is not known
        if value.kind is Kind.SYMBOLIC:
            found.symbolic = found.symbolic or value
        if value.kind in (Kind.VARIABLE, Kind.VARIABLES, Kind.LAYER, Kind.INSTANCE):
            found.members |= _own_members(it, value)
        elif value.kind is Kind.CONTAINER:
            if it.is_waiting(value):
                found.loose.append(value)
            stack.extend(it.items(value).elements)
    return found


def _held(it: Interpreter, values: Iterable[Value]) -> list[Value]:
    held: list[Value] = []
    for value in values:
        held.append(value)
        if isinstance(value.ref, HeapObject) and not isinstance(value.ref, Variable | VariableSet):
            held.extend(it.reachable(value.ref)[:64])
    return held


def _own_members(it: Interpreter, value: Value) -> frozenset[int]:
    return members_within(it, value)[0]


def touches(found: Reach, source: SourceAsked) -> bool:
    """Whether the walk met the source."""
    for way in alternatives(source.value, 16) or [source.value]:
        if way.serial in found.serials:
            return True
    if source.value.serial in found.serials:
        return True
    return bool(source.members & found.members)


def covers(it: Interpreter, found: Reach, source: SourceAsked, bits: int) -> Value | None:
    """An unknown on the way that may stand for, or have used, the source; None when there is none."""
    if found.symbolic is not None:
        return found.symbolic
    for value in found.opaque:
        if _known_to_strangers(it, source, value.serial):
            return value
    for value in found.loose:
        if _may_alias(it, value, source) or _may_hold_recording(it, value, bits):
            return value
    if found.members and (is_unknown_source(source) or _may_be_of_escaped(it, source, found.members)):
        return source.value  # it may be the very variable that the target was computed from
    return None


def _may_be_of_escaped(it: Interpreter, source: SourceAsked, members: set[int]) -> bool:
    """Whether the source belongs to what unseen code handed out, which may be an object that it had got hold of."""
    for way in alternatives(source.value, 16) or ():
        owner = way.ref.owner if way.kind is Kind.VARIABLES else None
        if isinstance(owner, Value) and (owner.root or owner).how is How.OPAQUE_CALL:
            found = (it.objects.get(member) for member in members)
            if any(each.escaped_at is not None and each.escaped_at <= owner.serial for each in found if each):
                return True
    return False


def _may_hold_recording(it: Interpreter, loose: Value, bits: int) -> bool:
    """Whether an unknown was read out of state that strangers may have filled with what the tape recorded."""
    if loose.how is How.PARAMETER and not (loose.frame is not None and loose.frame.is_module):
        return False  # an argument, as old as the call
    return any(clock <= loose.serial or loose.serial == 0 for clock, mask in it.escaped_recordings if mask & bits)


def is_unknown_source(source: SourceAsked) -> bool:
    """Whether a source may be any value at all."""
    ways = alternatives(source.value, 16)
    return ways is None or any(way.is_opaque or way.kind is Kind.UNKNOWN for way in ways)


def is_plain_loss(call: Value, source: SourceAsked) -> bool:
    """Whether an unknown call is named like a loss object and is given nothing that holds the source."""
    node = call.node
    if not isinstance(node, ast.Call) or not call.inputs:
        return False
    function = node.func
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    callee = call.inputs[0].root if call.inputs[0].root is not None else call.inputs[0]
    imported = callee.how is How.PARAMETER and callee.serial == 0  # it cannot hold what was made here
    if not imported and not (call.assumed and is_loss_object(name)):
        return False
    owner = source.value.ref.owner if source.value.kind is Kind.VARIABLES else None
    for given in call.inputs[1:]:
        if given is owner or given.kind in (Kind.INSTANCE, Kind.LAYER, Kind.FUNCTION, Kind.METHOD, Kind.VARIABLES):
            return False
        if given.how in (How.PARAMETER, How.PART) and owner is not None and isinstance(owner, Value):
            if given.serial == (owner.root or owner).serial:
                return False
    return True


def is_other_network(call: Value, source: SourceAsked) -> bool:
    """Whether a call is that of a network by its name, which is another object than the owner of the source."""
    node = call.node
    if not isinstance(node, ast.Call) or not call.inputs or not call.assumed:
        return False
    owner = source.value.ref.owner if source.value.kind is Kind.VARIABLES else None
    callee = call.inputs[0]
    return callee is not owner and callee.how in (How.PARAMETER, How.PART) and callee.kind is Kind.UNKNOWN


def _known_to_strangers(it: Interpreter, source: SourceAsked, clock: int) -> bool:
    value = source.value
    ways = alternatives(value, 16)
    if ways is None or source.open_members:
        return True
    for way in ways:
        if way.is_opaque or way.kind is Kind.UNKNOWN:
            return True
        if way.kind is Kind.VARIABLES and isinstance(way.ref.owner, Value):
            return True
        if it.escaped_values.get(way.serial, clock + 1) <= clock:
            return True
    for member in source.members:
        owner = it.objects.get(member)
        if owner is not None and owner.escaped_at is not None and owner.escaped_at <= clock:
            return True
    return False


def _may_alias(it: Interpreter, loose: Value, source: SourceAsked) -> bool:
    value = source.value
    ways = alternatives(value, 16)
    if ways is None:
        return True
    root = loose.root if loose.root is not None else loose
    for way in ways:
        if way.kind is Kind.VARIABLES:
            owner = way.ref.owner
            if isinstance(owner, Value):
                own_root = owner.root if owner.root is not None else owner
                if own_root.serial == root.serial or loose.how in (How.OPAQUE_CALL, How.OPERATION):
                    return True
                if loose.how is How.PART and loose.root is not None and isinstance(loose.root.ref, Instance):
                    return True
            elif loose.how in (How.OPAQUE_CALL, How.OPERATION) or isinstance(root.ref, HeapObject):
                if _known_to_strangers(it, source, loose.serial):
                    return True
            elif (
                loose.how is How.PARAMETER
                and loose.frame is not None
                and loose.frame.is_module
                and _known_to_strangers(it, source, it.clock)
            ):
                return True
        elif way.is_opaque or way.kind is Kind.UNKNOWN:
            return True
        elif way.kind is Kind.VARIABLE:
            if _known_to_strangers(it, source, max(loose.serial, 1)):
                return True
        elif it.escaped_values.get(way.serial, it.clock + 1) <= max(loose.serial, 1):
            return True
    return False


def surely_flows(it: Interpreter, target: Value, source: SourceAsked, bits: int) -> bool:
    """Whether a way from the source (from each that it may be) to the target is recorded from end to end."""
    ways = alternatives(source.value, 16)
    if ways is None:
        return False
    return all(_flows_from(it, target, way, source, bits) for way in ways)


def _flows_from(it: Interpreter, target: Value, origin: Value, source: SourceAsked, bits: int) -> bool:
    remembered: dict[int, bool] = {}
    sure_members = surely_within(it, origin) if origin.kind in (Kind.VARIABLE, Kind.VARIABLES) else frozenset()

    def flows(value: Value, depth: int) -> bool:
        known = remembered.get(value.serial)
        if known is not None:
            return known
        if value is origin:
            return True
        if value.kind in (Kind.VARIABLE, Kind.VARIABLES) and sure_members & surely_within(it, value):
            return True
        if depth > 400:
            return False
        remembered[value.serial] = value.label == "loop"
        answer = False
        if value.how is How.JOIN:
            answer = bool(value.inputs) and all(flows(each, depth + 1) for each in value.inputs)
        elif value.how in _RECORDED:
            answer = bool(value.sure & bits) and any(flows(each, depth + 1) for each in value.inputs)
        elif value.kind is Kind.CONTAINER:
            answer = any(flows(each, depth + 1) for each in it.items(value).elements)
        remembered[value.serial] = answer
        return answer

    return flows(target, 0)


def unregistered(
    it: Interpreter, target: Value, sources: Iterable[SourceAsked], bits: int
) -> list[tuple[Value, Value]]:
    """Operations without a registered gradient that lie surely on a way from a source: with the input they take."""
    found: list[tuple[Value, Value]] = []
    stack, seen = [target], set[int]()
    while stack:
        value = stack.pop()
        if value.serial in seen or len(seen) > 2000:
            continue
        seen.add(value.serial)
        if value.how is not How.OPERATION or not value.possible & bits:
            continue
        for given, cause in value.dead:
            if cause is Cause.UNREGISTERED_OP and any(surely_flows(it, given, source, bits) for source in sources):
                found.append((value, given))
        if value.sure & bits:
            stack.extend(value.inputs)
    return found


@dataclass(frozen=True, slots=True)
class WayStep:
    """One node on a way; `cut` is the cause on the edge that leads into it."""

    value: Value
    cut: Cause | None


def any_way(it: Interpreter, targets: Sequence[Value], source: SourceAsked) -> list[WayStep]:
    """A way by data, cut or not: rather one that passes values on than one that only asks for their shape.

    Rather one that is rounded than one that is stopped: in `q + stop_gradient(x - q)` nobody means to lose `q`.
    """
    without_stops = way_between(it, targets, source, dead_ends=True, shapes=False, stops=False)
    if any(step.cut is Cause.NON_DIFFERENTIABLE and _rounds(step.value) for step in without_stops):
        return without_stops
    return way_between(it, targets, source, dead_ends=True, shapes=False) or way_between(
        it, targets, source, dead_ends=True
    )


def _rounds(value: Value) -> bool:
    return value.op.role is Role.ROUNDING and value.op is not ops.FLOOR_DIVIDE


def way_between(
    it: Interpreter,
    targets: Iterable[Value],
    source: SourceAsked,
    *,
    dead_ends: bool,
    shapes: bool = True,
    stops: bool = True,
) -> list[WayStep]:
    """The shortest way by data from the source to a target, in the order of running; empty when there is none."""
    serials = {way.serial for way in alternatives(source.value, 16) or [source.value]}
    owner_serial = None
    if source.value.kind is Kind.VARIABLES and isinstance(source.value.ref.owner, Value):
        owner_serial = source.value.ref.owner.serial
    parents: dict[int, tuple[Value | None, Cause | None]] = {}
    queue: list[Value] = []
    for target in targets:
        if target.serial not in parents:
            parents[target.serial] = (None, None)
            queue.append(target)
    position = 0
    while position < len(queue):
        value = queue[position]
        position += 1
        met = value.serial in serials or value.serial == owner_serial
        if not met and value.kind in (Kind.VARIABLE, Kind.VARIABLES, Kind.LAYER, Kind.INSTANCE):
            met = bool(source.members & _own_members(it, value))
        if met:
            return _unwound(value, parents)
        if not shapes and value.op.tells_shape:
            continue
        following: list[tuple[Value, Cause | None]] = [(each, None) for each in value.inputs]
        if value.how is How.OPAQUE_CALL:
            following = [(each, None) for each in _held(it, value.inputs)]
        if value.kind is Kind.CONTAINER:
            following += [(each, None) for each in it.items(value).elements]
        if dead_ends:
            following += [
                (each, cause)
                for each, cause in value.dead
                if (shapes or not value.op.tells_shape) and (stops or cause is not Cause.STOPPED)
            ]
            reader = parents[value.serial][0]
            following += [(each, None) for each in _assigned(it, value) if reader and each.serial < reader.serial]
        for each, cause in following:
            if each.serial not in parents:
                parents[each.serial] = (value, cause)
                queue.append(each)
    return []


def _assigned(it: Interpreter, value: Value) -> list[Value]:
    """What was assigned to the variables that are read here."""
    if not it.written_state or value.kind not in (Kind.VARIABLE, Kind.VARIABLES):
        return []
    return [each for member in sorted(_own_members(it, value)) for each in it.written_state.get(member, ())]


def _unwound(value: Value, parents: dict[int, tuple[Value | None, Cause | None]]) -> list[WayStep]:
    steps = [WayStep(value, None)]
    each: Value | None = value
    while each is not None:
        parent, cause = parents[each.serial]
        if parent is not None:
            steps.append(WayStep(parent, cause))
        each = parent
    return steps
