"""Random programs: one valid, terminating TensorFlow program per integer seed, with gradient calls to judge.

Every value is a float scalar or vector of two, so that any operation fits any values. What a name holds is known while
the program is written, not what tapes make of it: that is for TensorFlow and gradlint to say.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto

HEAD = """\
import functools
import sys
import time
import keras
import tensorflow as tf
"""
#: What a reader of the program cannot know: the first is false when the program runs, the others true.
RIDDLES = ("len(sys.argv) > 5", "time.time() > 0", "time.time() > 0", "sys.maxsize > 3")
MOST_ASKS = 9


class Sort(Enum):
    """What a name holds."""

    SCALAR = auto()
    VECTOR = auto()
    DOUBLE = auto()  # float64 scalar
    VARIABLE = auto()  # scalar tf.Variable
    WEIGHTS = auto()  # vector tf.Variable
    LIST = auto()  # of scalars, never empty
    PAIR = auto()
    TABLE = auto()  # dict of scalars under "a" and "b"
    VARIABLES = auto()  # list of scalar variables
    GRADIENT = auto()  # scalar or vector or None
    FUNCTION = auto()  # scalar to scalar
    OBJECT = auto()  # called with a scalar; has attributes
    LAYER = auto()  # called with a batch of vectors


class TapeState(Enum):
    """What may be asked of a tape that is in scope."""

    OPEN = auto()
    CLOSED = auto()
    USED_UP = auto()


@dataclass(slots=True)
class TapeName:
    """A tape in scope."""

    name: str
    persistent: bool
    loops: int  # around the place where it was opened
    line: int = 0  # of the program when it was opened
    state: TapeState = TapeState.OPEN


@dataclass(slots=True)
class Class:
    """A class of the program: attributes that its constructor sets, and methods without arguments."""

    name: str
    attributes: dict[str, Sort] = field(default_factory=dict)
    methods: list[str] = field(default_factory=list)  # of one scalar, that return a scalar
    voids: list[str] = field(default_factory=list)  # of one scalar, for their effect
    has_variables: bool = True
    is_layer: bool = False


@dataclass(slots=True)
class Scope:
    """Names of one function, or of the module."""

    outer: Scope | None = None
    names: dict[str, Sort] = field(default_factory=dict)
    tapes: list[TapeName] = field(default_factory=list)
    classes: dict[str, Class] = field(default_factory=dict)  # of the names that hold objects

    def visible(self) -> dict[str, Sort]:
        return {**(self.outer.visible() if self.outer else {}), **self.names}

    def class_of(self, name: str) -> Class:
        if name in self.classes:
            return self.classes[name]
        assert self.outer is not None
        return self.outer.class_of(name)

    def visible_tapes(self) -> list[TapeName]:
        return [*(self.outer.visible_tapes() if self.outer else []), *self.tapes]


def program(seed: int) -> str:
    """The program of a seed."""
    return Writer(random.Random(seed)).program()


class Writer:
    """Writes one program, a statement at a time."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.indent = 0
        self.scope = Scope()
        self.made = 0
        self.asks = 0
        self.loops = 0
        self.in_function = 0
        self.in_graph = False
        self.classes: list[Class] = []
        self.tape_helpers: list[str] = []
        self.used: set[str] = set()  # names since the tape opened: good sources
        self.spread = rng.random() < 0.5  # whether statements nest much

    # -- pieces ---------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def new(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self.indent += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.indent -= 1

    @contextmanager
    def arm(self) -> Iterator[None]:
        """Names bound here are forgotten afterwards: other ways do not bind them."""
        names, tapes = dict(self.scope.names), list(self.scope.tapes)
        yield
        self.scope.names, self.scope.tapes = names, tapes

    def names_of(self, *sorts: Sort, own: bool = False) -> list[str]:
        names = self.scope.names if own else self.scope.visible()
        return [name for name, sort in names.items() if sort in sorts]

    def bind(self, name: str, sort: Sort) -> str:
        self.scope.names[name] = sort
        return name

    def riddle(self) -> str:
        return self.rng.choice(RIDDLES)

    # -- expressions ----------------------------------------------------------------------------

    def scalar(self, depth: int = 2) -> str:
        """An expression that is a float32 scalar."""
        names = self.names_of(Sort.SCALAR, Sort.SCALAR, Sort.VARIABLE)
        if depth <= 0 or self.chance(0.35):
            if not names or self.chance(0.06):
                return self.rng.choice(["tf.constant(0.7)", "tf.constant(1.3)"])
            recent = names[-3:] if self.chance(0.6) else names
            return self.rng.choice(recent)
        return self.rng.choice(self._scalar_ways())(depth - 1)

    def _scalar_ways(self) -> list[Callable[[int], str]]:
        ways: list[Callable[[int], str]] = []
        ways += [self._arithmetic] * 6 + [self._unary] * 4 + [self._structure] * 3
        ways += [self._from_vector] * 2 + [self._cut, self._control]
        if self.names_of(Sort.LIST, Sort.PAIR, Sort.TABLE, Sort.VARIABLES):
            ways += [self._from_container] * 4
        if self.names_of(Sort.FUNCTION):
            ways += [self._call] * 5
        if self.names_of(Sort.OBJECT):
            ways += [self._from_object] * 6
        if self.names_of(Sort.LAYER):
            ways += [self._from_layer] * 3
        if self.names_of(Sort.DOUBLE):
            ways += [lambda _: f"tf.cast({self.rng.choice(self.names_of(Sort.DOUBLE))}, tf.float32)"]
        return ways

    def _arithmetic(self, depth: int) -> str:
        operator = self.rng.choice(["+", "*", "-", "*", "+"])
        left, right = self.scalar(depth), self.scalar(depth) if self.chance(0.8) else "0.5"
        if self.chance(0.1):
            return f"({left} / (1.0 + {right} ** 2))"
        return f"({left} {operator} {right})"

    def _unary(self, depth: int) -> str:
        inner = self.scalar(depth)
        form = self.rng.choice(
            [
                "tf.sin({})",
                "tf.tanh({})",
                "tf.square({})",
                "tf.exp(-tf.abs({}))",
                "(-{})",
                "({} ** 2)",
                "tf.identity({})",
                "tf.cast(tf.cast({}, tf.float64), tf.float32)",
                "tf.reshape({}, [])",
                "tf.math.sigmoid({})",
                "tf.nn.relu({} + 10.0)",
                "tf.convert_to_tensor({})",
                "keras.ops.sin({})",
                "tf.clip_by_value({}, -9.0, 9.0)",
            ]
        )
        return form.format(inner)

    def _structure(self, depth: int) -> str:
        left, right = self.scalar(depth), self.scalar(depth)
        form = self.rng.choice(
            [
                "tf.stack([{0}, {1}])[0]",
                "tf.stack([{0}, {1}])[1]",
                "tf.add_n([{0}, {1}])",
                "tf.maximum({0}, {1})",
                "tf.gather(tf.stack([{0}, {1}]), 1)",
                "sum([{0}, {1}])",
                "[{0}, {1}][-1]",
                "({0}, {1})[0]",
                "tf.concat([[{0}], [{1}]], 0)[0]",
                "tf.where(tf.constant(True), {0}, {1})",
                "(lambda z: z * {1})({0})",
                "{{'k': {0}, 'm': {1}}}['m']",
                "functools.reduce(lambda p, q: p * q, [{0}, {1}])",
                "max([{0}, {1}], key=lambda z: 1)",
                "sum(z * 2.0 for z in [{0}, {1}])",
                "tf.unstack(tf.stack([{0}, {1}]))[0]",
                "tf.reduce_sum([z * 2.0 for z in ({0}, {1})])",
                "dict(k={0}, m={1}).get('k')",
                "next(iter([{0}, {1}]))",
                "tf.tensordot(tf.stack([{0}, {1}]), tf.constant([1.0, 2.0]), 1)",
                "tf.nest.map_structure(tf.sin, [{0}, {1}])[0]",
            ]
        )
        return form.format(left, right)

    def _from_vector(self, depth: int) -> str:
        return self.rng.choice(
            [
                "tf.reduce_sum({})",
                "{}[0]",
                "{}[-1]",
                "tf.reduce_mean({})",
                "tf.norm({} + 3.0)",
                "tf.gather({}, 0)",
                "tf.reduce_sum({}[:1])",
                "tf.reduce_sum(tf.map_fn(lambda z: z * 2.0, {}))",
            ]
        ).format(self.vector(depth))

    def vector(self, depth: int) -> str:
        names = self.names_of(Sort.VECTOR, Sort.WEIGHTS)
        if names and (depth <= 0 or self.chance(0.5)):
            return self.rng.choice(names)
        if depth <= 0:
            return "tf.constant([1.0, 2.0])"
        kind = self.rng.randrange(4)
        if kind == 0:
            return f"tf.stack([{self.scalar(depth - 1)}, {self.scalar(depth - 1)}])"
        if kind == 1:
            return f"({self.vector(depth - 1)} * {self.scalar(depth - 1)})"
        if kind == 2:
            return f"tf.concat([{self.vector(depth - 1)}[:1], {self.vector(depth - 1)}[1:]], 0)"
        return f"tf.sin({self.vector(depth - 1)})"

    def _cut(self, depth: int) -> str:
        form = self.rng.choice(
            [
                "tf.stop_gradient({})",
                "tf.round({})",
                "tf.zeros_like({})",
                "tf.cast(tf.cast({}, tf.int32), tf.float32)",
                "tf.sign({})",
                "tf.cast({} > 0, tf.float32)",
                *([] if self.in_graph else ["float({})", "tf.constant({}.numpy())"]),
            ]
        )
        inner = self.scalar(depth)
        if ".numpy" in form or "float(" in form:
            inner = f"({inner} + tf.constant(0.0))"
        made = form.format(inner)
        return f"({made} * {self.scalar(depth)})" if self.chance(0.7) else f"tf.convert_to_tensor({made})"

    def _control(self, depth: int) -> str:
        left, right = self.scalar(depth), self.scalar(depth)
        kind = self.rng.randrange(4)
        if kind == 0:
            return f"tf.cond({self.scalar(0)} > 0, lambda: tf.identity({left}), lambda: tf.identity({right}))"
        if kind == 1:
            body = f"lambda i, z: (i + 1, z * {self.scalar(0)})"
            return f"tf.while_loop(lambda i, z: i < 2, {body}, (0, tf.identity({left})))[1]"
        return f"({left} if {self.riddle()} else {right})"

    def _from_container(self, depth: int) -> str:
        name = self.rng.choice(self.names_of(Sort.LIST, Sort.PAIR, Sort.TABLE, Sort.VARIABLES))
        sort = self.scope.visible()[name]
        if sort is Sort.TABLE:
            forms = [
                f"{name}['a']",
                f"{name}['b']",
                f"sum({name}.values())",
                f"{name}.get('a')",
                f"tf.add_n([z * 1.5 for k, z in {name}.items()])",
            ]
        else:
            forms = [
                f"{name}[0]",
                f"{name}[-1]",
                f"sum({name})",
                f"tf.add_n([z * {self.scalar(0)} for z in {name}])",
                f"tf.reduce_sum(tf.stack({name}))",
                f"sum(z * z for z in {name})",
                f"[*{name}, {self.scalar(0)}][0]",
                f"sum(i * z for i, z in enumerate({name}, 1))",
            ]
        return f"({self.rng.choice(forms)} * 1.0)" if sort is Sort.VARIABLES else self.rng.choice(forms)

    def _call(self, depth: int) -> str:
        name = self.rng.choice(self.names_of(Sort.FUNCTION)[-6:])
        return f"{name}({self.scalar(depth)})" if self.chance(0.9) else f"{name}(*[{self.scalar(depth)}])"

    def _from_object(self, depth: int) -> str:
        name = self.rng.choice(self.names_of(Sort.OBJECT))
        made = self.scope.class_of(name)
        scalars = [each for each, sort in made.attributes.items() if sort in (Sort.SCALAR, Sort.VARIABLE)]
        lists = [each for each, sort in made.attributes.items() if sort is Sort.LIST]
        forms = [f"{name}({self.scalar(depth)})"] if made.methods and "__call__" in made.methods else []
        forms += [f"{name}.{each}({self.scalar(depth)})" for each in made.methods if not each.startswith("__")]
        forms += [f"({name}.{each} * 1.0)" for each in scalars]
        forms += [f"{name}.{each}[-1]" for each in lists] + [f"tf.add_n({name}.{each})" for each in lists]
        return self.rng.choice(forms) if forms else self.scalar(0)

    def _from_layer(self, depth: int) -> str:
        name = self.rng.choice(self.names_of(Sort.LAYER))
        return f"tf.reduce_sum({name}(tf.reshape({self.vector(depth)}, [1, 2])))"

    # -- statements -----------------------------------------------------------------------------

    def statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            if len(self.lines) > 90:
                return
            self.statement(depth)

    def statement(self, depth: int) -> None:
        ways: list[tuple[int, Callable[[int], None]]] = [
            (9, self._assign),
            (4, self._rebind),
            (3, self._containers),
            (2, self._mutate),
            (2, self._object_effect),
            (1, self._assign_to_variable),
            (2, self._use_gradient),
        ]
        if any(tape.state is not TapeState.USED_UP for tape in self.scope.visible_tapes()):
            ways += [(6, lambda _: self.ask())]
        if depth > 0:
            ways += [(5, self._tape), (3, self._for), (2, self._if), (1, self._while), (1, self._try)]
            if not self.in_graph and self.indent < 3:
                ways += [(2, self._local_helper)]
        if any(tape.state is TapeState.OPEN for tape in self.scope.visible_tapes()):
            ways += [(2, self._watch)]
            if depth > 0:
                ways += [(1, self._pause)]
        self.rng.choices([way for _, way in ways], [weight for weight, _ in ways])[0](depth)

    def _assign(self, _: int) -> None:
        kind = self.rng.randrange(10)
        if kind < 7:
            text = self.scalar(3 if self.chance(0.3) else 2)
            alias = text.isidentifier()
            self.line(f"{self.new('x' if alias else 'y')} = {text}")
            self.bind(f"{'x' if alias else 'y'}{self.made}", Sort.SCALAR)
        elif kind < 9:
            text = self.vector(2)
            name = self.new("u")
            self.line(f"{name} = {text}" if not text.isidentifier() else f"{name} = {text} * 1.0")
            self.bind(name, Sort.VECTOR)
        else:
            text = self.scalar(1)
            self.line(f"{self.new('d')} = tf.cast({text}, tf.float64)")
            self.bind(f"d{self.made}", Sort.DOUBLE)

    def _rebind(self, depth: int) -> None:
        names = self.names_of(Sort.SCALAR, own=True)
        if not names:
            return self._assign(depth)
        name = self.rng.choice(names)
        if self.chance(0.4):
            operator = self.rng.choice("+*-")
            in_place = name.startswith("y") and self.chance(0.6)
            right = self.scalar(1)
            self.line(f"{name} {operator}= {right}" if in_place else f"{name} = {name} {operator} {right}")
        else:
            self.line(f"{name} = {self.scalar(2)}")
        return None

    def _containers(self, depth: int) -> None:
        kind = self.rng.randrange(6)
        if kind == 0 and (variables := self.names_of(Sort.VARIABLE)):
            chosen = self.rng.sample(variables, min(len(variables), 2))
            self.line(f"{self.new('vs')} = [{', '.join(chosen)}]")
            self.bind(f"vs{self.made}", Sort.VARIABLES)
        elif kind == 1:
            text = f"{{'a': {self.scalar(1)}, 'b': {self.scalar(1)}}}"
            self.line(f"{self.new('t')} = {text}")
            self.bind(f"t{self.made}", Sort.TABLE)
        elif kind == 2:
            text = f"({self.scalar(1)}, {self.scalar(1)})"
            self.line(f"{self.new('p')} = {text}")
            self.bind(f"p{self.made}", Sort.PAIR)
        elif kind == 3 and (pairs := self.names_of(Sort.PAIR)):
            pair = self.rng.choice(pairs)
            left, right = self.new("y"), self.new("y")
            self.line(f"{left}, {right} = {pair}")
            self.bind(left, Sort.SCALAR)
            self.bind(right, Sort.SCALAR)
        elif kind == 4:
            text = f"[{self.scalar(1)} * z for z in ({self.scalar(0)}, {self.scalar(0)})]"
            self.line(f"{self.new('l')} = {text}")
            self.bind(f"l{self.made}", Sort.LIST)
        else:
            text = f"[{self.scalar(1)}, {self.scalar(1)}]"
            self.line(f"{self.new('l')} = {text}")
            self.bind(f"l{self.made}", Sort.LIST)

    def _mutate(self, depth: int) -> None:
        lists, tables = self.names_of(Sort.LIST), self.names_of(Sort.TABLE)
        if self.in_graph or not (lists or tables):
            return self._assign(depth)
        if lists and (not tables or self.chance(0.6)):
            name, text = self.rng.choice(lists), self.scalar(2)
            forms = [
                f"{name}.append({text})",
                f"{name}[0] = {text}",
                f"{name}[-1] += {text}",
                f"{name}.insert(0, {text})",
                f"{name}.extend([{text}, {self.scalar(0)}])",
                f"{name}[:] = [{text}]",
            ]
            if name in self.scope.names:
                forms += [f"{name} += [{text}]", f"{name} = {name} + [{text}]", f"{name} = list(reversed({name}))"]
            self.line(self.rng.choice(forms))
        else:
            name, text = self.rng.choice(tables), self.scalar(2)
            key = self.rng.choice("ab")
            forms = [f"{name}['{key}'] = {text}", f"{name}.update({key}={text})", f"{name}['{key}'] += {text}"]
            if name in self.scope.names:
                forms += [f"{name} = {{**{name}, '{key}': {text}}}", f"{name} = dict({name})"]
            self.line(self.rng.choice(forms))
        return None

    def _object_effect(self, depth: int) -> None:
        names = self.names_of(Sort.OBJECT)
        if not names or self.in_graph:
            return self._assign(depth)
        name = self.rng.choice(names)
        made = self.scope.class_of(name)
        if made.voids and self.chance(0.6):
            self.line(f"{name}.{self.rng.choice(made.voids)}({self.scalar(1)})")
            return None
        scalars = [each for each, sort in made.attributes.items() if sort is Sort.SCALAR]
        if scalars:
            self.line(f"{name}.{self.rng.choice(scalars)} = {self.scalar(2)}")
        return None

    def _assign_to_variable(self, depth: int) -> None:
        names = self.names_of(Sort.VARIABLE)
        if not names:
            return self._assign(depth)
        form = self.rng.choice(["{}.assign({})", "{}.assign_add({})", "{}.assign({})"])
        text = form.format(self.rng.choice(names), f"tf.sin({self.scalar(1)})")
        if self.chance(0.4) and not self.in_graph:
            name = self.new("y")
            self.line(f"{name} = {text} * 1.0")
            self.bind(name, Sort.SCALAR)
        else:
            self.line(text)
        return None

    def _use_gradient(self, depth: int) -> None:
        names = self.names_of(Sort.GRADIENT)
        if not names:
            return self._assign(depth)
        name = self.rng.choice(names[-3:])
        kind = self.rng.randrange(9)
        if kind < 4:
            made = self.new("y")
            self.line(f"{made} = tf.reduce_sum({name}) if {name} is not None else {self.scalar(1)}")
            self.bind(made, Sort.SCALAR)
        elif kind < 8:
            made = self.new("y")
            self.line(f"{made} = {self.scalar(0)} * 1.0")
            self.bind(made, Sort.SCALAR)
            with self.block(f"if {name} is not None:"):
                self.line(f"{made} = {made} * tf.reduce_sum({name})")
        else:
            made = self.new("y")
            self.line(f"{made} = tf.reduce_sum({name} * {self.scalar(0)})")
            self.bind(made, Sort.SCALAR)
        return None

    # -- tapes ----------------------------------------------------------------------------------

    def _tape(self, depth: int) -> None:
        if len(self.scope.tapes) > 6:
            return
        tapes = [self._new_tape() for _ in range(2 if self.chance(0.12) else 1)]
        made = [self._tape_call(tape) for tape in tapes]
        again = self.chance(0.12)
        if again:
            for tape, call in zip(tapes, made, strict=True):
                self.line(f"{tape.name} = {call}")
            head = ", ".join(tape.name for tape in tapes)
        else:
            head = ", ".join(f"{call} as {tape.name}" for tape, call in zip(tapes, made, strict=True))
        self._under(tapes, head, depth)
        if again:
            self.statements(self.rng.randint(0, 2), 0)
            if all(tape.state is TapeState.CLOSED for tape in tapes):
                self._under(tapes, head, depth)
        if self.chance(0.85):
            self.statements(self.rng.randint(0, 1), 0)
            self.ask(tapes[-1])

    def _under(self, tapes: list[TapeName], head: str, depth: int) -> None:
        for tape in tapes:
            tape.state = TapeState.OPEN
        with self.block(f"with {head}:"):
            self.scope.tapes += [tape for tape in tapes if tape not in self.scope.tapes]
            if self.chance(0.3):
                self._watch(depth)
            self.statements(self.rng.randint(1, 3), depth - 1)
            self._assign(depth)
        for tape in tapes:
            if tape.state is TapeState.OPEN:
                tape.state = TapeState.CLOSED

    def _new_tape(self) -> TapeName:
        return TapeName(self.new("tape"), self.chance(0.45), self.loops, len(self.lines))

    def _tape_call(self, tape: TapeName) -> str:
        options = ["persistent=True"] if tape.persistent else []
        if self.chance(0.15):
            options.append("watch_accessed_variables=False")
        return f"tf.GradientTape({', '.join(options)})"

    def _watch(self, _: int) -> None:
        tapes = [tape for tape in self.scope.visible_tapes() if tape.state is TapeState.OPEN]
        names = self.names_of(
            Sort.SCALAR, Sort.SCALAR, Sort.VECTOR, Sort.VARIABLE, Sort.WEIGHTS, Sort.VARIABLES, Sort.LIST
        )
        if tapes and names:
            tape = self.rng.choice(tapes)
            self.line(f"{tape.name}.watch({self.rng.choice(names)})")

    def _pause(self, depth: int) -> None:
        tapes = [tape for tape in self.scope.tapes if tape.state is TapeState.OPEN]
        if not tapes:
            return
        tape = self.rng.choice(tapes)
        if self.chance(0.3):
            self.line(f"{tape.name}.reset()")
            return
        tape.state = TapeState.CLOSED
        with self.block(f"with {tape.name}.stop_recording():"):
            self.statements(self.rng.randint(1, 2), depth - 1)
        if tape.state is TapeState.CLOSED:
            tape.state = TapeState.OPEN

    def ask(self, tape: TapeName | None = None) -> None:
        tapes = [each for each in self.scope.visible_tapes() if each.state is not TapeState.USED_UP]
        if self.asks >= MOST_ASKS or not (tape or tapes):
            return
        careless = self.chance(0.03)
        if tape is None:
            tape = self.rng.choice(tapes[-3:])
        if not tape.persistent and not careless:
            if tape.state is TapeState.USED_UP or self.loops > tape.loops:
                return
            if tape.state is TapeState.OPEN and self.chance(0.8):
                return
        if not tape.persistent:
            tape.state = TapeState.USED_UP
        self.asks += 1
        target = self._target()
        used = set(re.findall(r"[a-z]\w*", " ".join([target, *self.lines[tape.line :]])))
        self.used = used if self.chance(0.75) else set()
        sources, several = self._sources()
        self.used = set()
        if self.tape_helpers and self.chance(0.15):
            text = f"{self.rng.choice(self.tape_helpers)}({tape.name}, {target}, {sources})"
        else:
            asked = "jacobian" if self.chance(0.02) and not several else "gradient"
            text = f"{tape.name}.{asked}({target}, {sources})"
        name = self.new("g")
        if several and not sources.startswith("{"):
            self.line(f"{name} = {text}")
            if self.chance(0.5) and sources.startswith("["):
                first = self.new("g")
                self.line(f"{first} = {name}[0]")
                self.bind(first, Sort.GRADIENT)
        else:
            self.line(f"{name} = {text}")
            if not several:
                self.bind(name, Sort.GRADIENT)

    def _target(self) -> str:
        names = self.names_of(Sort.SCALAR, Sort.VECTOR)
        roll = self.rng.random()
        if not names or roll < 0.08:
            return self.scalar(2)
        if roll < 0.16:
            return f"[{self.rng.choice(names)}, {self.rng.choice(names)}]"
        if roll < 0.2 and (lists := self.names_of(Sort.LIST, Sort.PAIR, Sort.TABLE)):
            return self.rng.choice(lists)
        recent = names[-2:] if self.chance(0.8) else names
        return self.rng.choice(recent)

    def _sources(self) -> tuple[str, bool]:
        roll = self.rng.random()
        if roll < 0.12 and (lists := self.names_of(Sort.VARIABLES, Sort.LIST)):
            return self.rng.choice(lists), True
        if roll < 0.2 and (
            objects := [name for name in self.names_of(Sort.OBJECT) if self.scope.class_of(name).has_variables]
        ):
            return f"{self.rng.choice(objects)}.trainable_variables", True
        if roll < 0.25 and (layers := self.names_of(Sort.LAYER)):
            return f"{self.rng.choice(layers)}.trainable_variables", True
        if roll < 0.5:
            return f"[{', '.join(dict.fromkeys(self._source() for _ in range(self.rng.randint(2, 3))))}]", True
        if roll < 0.54:
            return f"{{'p': {self._source()}, 'q': {self._source()}}}", True
        return self._source(), False

    def _source(self) -> str:
        variables = self.names_of(Sort.VARIABLE, Sort.WEIGHTS)
        tensors = self.names_of(Sort.SCALAR, Sort.VECTOR)
        attributes = [
            f"{name}.{each}"
            for name in self.names_of(Sort.OBJECT)
            for each, sort in self.scope.class_of(name).attributes.items()
            if sort in (Sort.VARIABLE, Sort.SCALAR)
        ]
        if self.used:
            variables = [name for name in variables if name in self.used] or variables
            tensors = [name for name in tensors if name in self.used] or tensors
        if attributes and self.chance(0.2):
            return self.rng.choice(attributes)
        if tensors and (not variables or self.chance(0.3)):
            return self.rng.choice(tensors)
        return self.rng.choice(variables) if variables else "tf.constant(1.0)"

    # -- control flow ---------------------------------------------------------------------------

    def _for(self, depth: int) -> None:
        item = self.new("z")
        lists = self.names_of(Sort.LIST, Sort.VARIABLES)
        roll = self.rng.random()
        bound: dict[str, Sort] = {}
        if self.in_graph or roll < 0.4 or not lists:
            count = 2 if self.chance(0.5) else 3
            head = f"for {item} in range({count}):"
        elif roll < 0.6:
            head, bound = f"for {item} in list({self.rng.choice(lists)}):", {item: Sort.SCALAR}
        elif roll < 0.75:
            other = self.new("z")
            head = f"for {item}, {other} in zip(list({self.rng.choice(lists)}), [{self.scalar(0)}, {self.scalar(0)}]):"
            bound = {item: Sort.SCALAR, other: Sort.SCALAR}
        elif roll < 0.9:
            head, bound = (
                f"for {self.new('i')}, {item} in enumerate(list({self.rng.choice(lists)})):",
                {item: Sort.SCALAR},
            )
        else:
            head, bound = f"for {item} in ({self.scalar(1)}, {self.scalar(1)}):", {item: Sort.SCALAR}
        self.loops += 1
        with self.block(head), self.arm():
            self.scope.names.update(bound)
            self.statements(self.rng.randint(1, 4), depth - 1)
            if self.chance(0.1):
                with self.block(f"if {self.riddle()}:"):
                    self.line(self.rng.choice(["break", "continue"]))
                self.statements(1, 0)
        self.loops -= 1

    def _while(self, depth: int) -> None:
        name = self.new("n")
        self.line(f"{name} = 0")
        self.loops += 1
        with self.block(f"while {name} < {self.rng.choice([2, 3])}:"):
            self.line(f"{name} += 1")
            with self.arm():
                self.statements(self.rng.randint(1, 3), depth - 1)
        self.loops -= 1

    def _if(self, depth: int) -> None:
        with self.block(f"if {self.riddle()}:"), self.arm():
            self.statements(self.rng.randint(1, 2), depth - 1)
        if self.chance(0.5):
            with self.block("else:"), self.arm():
                self.statements(self.rng.randint(1, 2), depth - 1)

    def _try(self, depth: int) -> None:
        with self.block("try:"), self.arm():
            self.statements(self.rng.randint(1, 2), depth - 1)
            if self.chance(0.3):
                with self.block(f"if {self.riddle()}:"):
                    self.line("raise ValueError('stop')")
                self.statements(1, 0)
                caught = True
            else:
                caught = self.chance(0.3)
        if caught:
            with self.block("except ValueError:"), self.arm():
                self.statements(1, 0)
        if not caught or self.chance(0.5):
            with self.block("finally:"):
                self.statements(self.rng.randint(1, 2), 0)

    # -- functions ------------------------------------------------------------------------------

    @contextmanager
    def function(self, head: str, parameters: dict[str, Sort], *, tapes: bool = False) -> Iterator[None]:
        outer, loops, made = self.scope, self.loops, Scope(self.scope, dict(parameters))
        self.scope, self.loops = made, 0
        self.in_function += 1
        hidden = [] if tapes else [tape for tape in outer.visible_tapes() if tape.state is not TapeState.USED_UP]
        states = [tape.state for tape in hidden]
        for tape in hidden:
            tape.state = TapeState.USED_UP
        with self.block(head):
            yield
        for tape, state in zip(hidden, states, strict=True):
            tape.state = state
        self.scope, self.loops = outer, loops
        self.in_function -= 1

    def helper(self) -> None:
        """A function at module level."""
        self.rng.choice(
            [
                self._plain_helper,
                self._plain_helper,
                self._plain_helper,
                self._lambda_helper,
                self._factory,
                self._step,
                self._step,
                self._effectful,
                self._recursive,
                self._default,
                self._partial,
                self._generator,
                self._decorated,
                self._keeper,
                self._applier,
                self._asker,
                self._graph_step,
                self._early,
            ]
        )()

    def _local_helper(self, _: int) -> None:
        self.rng.choice([self._plain_helper, self._lambda_helper, self._default, self._partial])()

    def _plain_helper(self) -> None:
        name = self.new("f")
        graph = self.chance(0.12) and not self.in_function
        if graph:
            self.line("@tf.function")
            self.in_graph = True
        with self.function(f"def {name}(x):", {"x": Sort.SCALAR}):
            self.statements(self.rng.randint(0, 2), 0 if graph or self.chance(0.7) else 1)
            self.line(f"return {self.scalar(2)}")
        if graph:
            self.in_graph = False
        self.bind(name, Sort.FUNCTION)

    def _early(self) -> None:
        name = self.new("f")
        with self.function(f"def {name}(x):", {"x": Sort.SCALAR}):
            with self.block(f"if {self.riddle()}:"):
                self.line(f"return {self.scalar(2)}")
            self.statements(1, 0)
            self.line(f"return {self.scalar(2)}")
        self.bind(name, Sort.FUNCTION)

    def _lambda_helper(self) -> None:
        name = self.new("f")
        scope = self.scope
        self.scope = Scope(scope, {"x": Sort.SCALAR})
        text = self.scalar(2)
        self.scope = scope
        self.line(f"{name} = lambda x: {text}")
        self.bind(name, Sort.FUNCTION)

    def _factory(self) -> None:
        maker, name = self.new("make"), self.new("f")
        with self.function(f"def {maker}(k):", {"k": Sort.SCALAR}):
            self.statements(1, 0)
            with self.function("def inner(x):", {"x": Sort.SCALAR}):
                self.line(f"return {self.scalar(2)} * k")
            self.line("return inner")
        self.line(f"{name} = {maker}({self.scalar(2)})")
        self.bind(name, Sort.FUNCTION)

    def _default(self) -> None:
        name = self.new("f")
        default = self.scalar(2)
        with self.function(f"def {name}(x, y={default}):", {"x": Sort.SCALAR, "y": Sort.SCALAR}):
            self.statements(self.rng.randint(0, 1), 0)
            self.line(f"return {self.scalar(1)} + y")
        self.bind(name, Sort.FUNCTION)

    def _partial(self) -> None:
        inner, name = self.new("h"), self.new("f")
        with self.function(f"def {inner}(x, y, *rest, z=1.0):", {"x": Sort.SCALAR, "y": Sort.SCALAR}):
            self.line(f"return {self.scalar(1)} * y + z")
        form = self.rng.choice(
            ["functools.partial({}, {})", "functools.partial({}, y={})", "functools.partial({}, {}, z={})"]
        )
        self.line(f"{name} = {form.format(inner, self.scalar(1), self.scalar(1))}")
        self.bind(name, Sort.FUNCTION)

    def _generator(self) -> None:
        inner, name = self.new("h"), self.new("f")
        with self.function(f"def {inner}(x):", {"x": Sort.SCALAR}), self.block("for i in range(2):"):
            self.line(f"yield {self.scalar(1)}")
        self.line(f"{name} = lambda x: sum({inner}(x))")
        self.bind(name, Sort.FUNCTION)

    def _decorated(self) -> None:
        wrap, name = self.new("wrap"), self.new("f")
        with self.block(f"def {wrap}(function):"):
            with self.function("def wrapped(*args, **kwargs):", {}):
                self.line(f"return function(*args, **kwargs) * {self.scalar(0)}")
            self.line("return wrapped")
        self.line(f"@{wrap}")
        with self.function(f"def {name}(x):", {"x": Sort.SCALAR}):
            self.line(f"return {self.scalar(2)}")
        self.bind(name, Sort.FUNCTION)

    def _recursive(self) -> None:
        inner, name = self.new("h"), self.new("f")
        with self.function(f"def {inner}(x, n):", {"x": Sort.SCALAR}):
            with self.block("if n == 0:"):
                self.line(f"return {self.scalar(1)}")
            self.line(f"return {inner}({self.scalar(1)}, n - 1)")
        self.line(f"{name} = lambda x: {inner}(x, {self.rng.randint(1, 3)})")
        self.bind(name, Sort.FUNCTION)

    def _applier(self) -> None:
        inner, name = self.new("h"), self.new("f")
        with self.function(f"def {inner}(function, x):", {"x": Sort.SCALAR, "function": Sort.FUNCTION}):
            self.line(f"return function({self.scalar(1)}) + {self.scalar(1)}")
        self.line(f"{name} = lambda x: {inner}(lambda z: z * {self.scalar(0)}, x)")
        self.bind(name, Sort.FUNCTION)

    def _effectful(self) -> None:
        names = self.names_of(Sort.SCALAR, own=True)
        lists = self.names_of(Sort.LIST, own=True)
        if not names and not lists:
            return self._plain_helper()
        name = self.new("f")
        with self.function(f"def {name}(x):", {"x": Sort.SCALAR}):
            if names and (not lists or self.chance(0.5)):
                chosen = self.rng.choice(names)
                self.line(f"{'global' if self.in_function == 1 else 'nonlocal'} {chosen}")
                self.line(f"{chosen} = {self.scalar(2)}")
            else:
                self.line(f"{self.rng.choice(lists)}.append({self.scalar(2)})")
            self.line(f"return {self.scalar(1)}")
        self.bind(name, Sort.FUNCTION)
        return None

    def _keeper(self) -> None:
        """Computes once and keeps the result."""
        cache, name = self.new("cache"), self.new("f")
        kind = self.rng.randrange(3)
        if kind == 0:
            self.line(f"{cache} = {{}}")
            with self.function(f"def {name}(x):", {"x": Sort.SCALAR}):
                with self.block(f"if 'k' not in {cache}:"):
                    self.line(f"{cache}['k'] = {self.scalar(2)}")
                self.line(f"return {cache}['k'] * {self.scalar(0)}")
        elif kind == 1:
            self.line(f"{cache} = None")
            with self.function(f"def {name}(x):", {"x": Sort.SCALAR}):
                self.line(f"global {cache}")
                with self.block(f"if {cache} is None:"):
                    self.line(f"{cache} = {self.scalar(2)}")
                self.line(f"return {cache} * {self.scalar(0)}")
        else:
            self.line("@functools.lru_cache(None)")
            with self.block(f"def {cache}():"):
                self.line(f"return {self.scalar(2)}")
            self.line(f"{name} = lambda x: x * {cache}()")
        self.bind(name, Sort.FUNCTION)

    def _asker(self) -> None:
        name = self.new("ask")
        with self.block(f"def {name}(tape, target, sources):"):
            self.line("return tape.gradient(target, sources)")
        self.tape_helpers.append(name)
        self.asks += 1

    def _step(self) -> None:
        """A training step: opens a tape, asks, returns the loss."""
        name = self.new("f")
        asks, self.asks = self.asks, max(self.asks - 2, 0)
        with self.function(f"def {name}(x):", {"x": Sort.SCALAR}):
            self.statements(self.rng.randint(0, 1), 0)
            self._tape(1)
            self.statements(self.rng.randint(0, 1), 0)
            if self.chance(0.3) and (gradients := self.names_of(Sort.GRADIENT, own=True)):
                self.line(f"return {self.scalar(1)} if {gradients[-1]} is None else {gradients[-1]} * 1.0")
                self.lines[-1] = self.lines[-1].replace(f"{gradients[-1]} * 1.0", f"tf.reduce_sum({gradients[-1]})")
            else:
                self.line(f"return {self.scalar(1)}")
        self.asks = max(asks, self.asks)
        self.bind(name, Sort.FUNCTION)

    def _graph_step(self) -> None:
        if self.in_function:
            return
        self.line("@tf.function")
        self.in_graph = True
        self._step()
        self.in_graph = False

    # -- classes --------------------------------------------------------------------------------

    def define_class(self) -> None:
        """A tf.Module, plain object or keras layer, with values kept in attributes."""
        base = self.rng.choice(["(tf.Module)", "(tf.Module)", "", "(keras.layers.Layer)"])
        older = [each for each in self.classes if not each.is_layer]
        parent = self.rng.choice(older) if older and self.chance(0.25) else None
        made = Class(self.new("Model"), has_variables=base != "", is_layer="keras" in base)
        if parent is not None:
            made.attributes = dict(parent.attributes)
            made.methods, made.voids = list(parent.methods), list(parent.voids)
            made.has_variables, made.is_layer, base = parent.has_variables, False, f"({parent.name})"
        with self.block(f"class {made.name}{base}:"):
            self._constructor(made, parent)
            if made.is_layer:
                self._layer_methods(made)
            else:
                self._methods(made)
        self.classes.append(made)
        self._instance(made)

    def _instance(self, made: Class) -> None:
        name = self.new("m")
        self.line(f"{name} = {made.name}({self.scalar(1)})")
        self.bind(name, Sort.OBJECT)
        self.scope.classes[name] = made

    def _constructor(self, made: Class, parent: Class | None) -> None:
        with self.function("def __init__(self, k):", {"k": Sort.SCALAR}):
            if parent is not None or made.is_layer or self.chance(0.5):
                self.line(f"super().__init__({'k' if parent is not None else ''})")
            self.scope.names["self"] = Sort.OBJECT
            self.scope.classes["self"] = made
            if parent is not None and self.chance(0.4):
                return
            if not made.is_layer:
                self._set(made, "w", Sort.VARIABLE, f"tf.Variable({self.rng.choice(['0.5', '1.5', 'k'])})")
            for _ in range(self.rng.randint(1, 3)):
                if self.chance(0.2):
                    self._set(made, self.new("kept"), Sort.LIST, f"[{self.scalar(1)}]")
                else:
                    self._set(made, self.new("a"), Sort.SCALAR, self.scalar(2))

    def _set(self, made: Class, attribute: str, sort: Sort, text: str) -> None:
        self.line(f"self.{attribute} = {text}")
        made.attributes[attribute] = sort

    def _methods(self, made: Class) -> None:
        for _ in range(self.rng.randint(1, 3)):
            name = "__call__" if "__call__" not in made.methods and self.chance(0.6) else self.new("run")
            if self.chance(0.08) and name != "__call__":
                self.line("@tf.function")
                self.in_graph = True
            with self._method(made, f"def {name}(self, x):"):
                if self.in_graph or self.chance(0.6):
                    self.statements(self.rng.randint(0, 2), 0)
                else:
                    asks, self.asks = self.asks, max(self.asks - 2, 0)
                    self.statements(self.rng.randint(0, 1), 0)
                    self._tape(1)
                    self.asks = max(asks, self.asks)
                if not self.in_graph and self.chance(0.3):
                    self._keep(made)
                self.line(f"return {self.scalar(2)}")
            self.in_graph = False
            if name not in made.methods:
                made.methods.append(name)
        if self.chance(0.7):
            name = self.new("keep")
            with self._method(made, f"def {name}(self, x):"):
                self.statements(self.rng.randint(0, 1), 0)
                self._keep(made)
            made.voids.append(name)

    def _keep(self, made: Class) -> None:
        scalars = [each for each, sort in made.attributes.items() if sort is Sort.SCALAR]
        lists = [each for each, sort in made.attributes.items() if sort is Sort.LIST]
        if lists and self.chance(0.5):
            self.line(f"self.{self.rng.choice(lists)}.append({self.scalar(2)})")
        elif scalars:
            self.line(f"self.{self.rng.choice(scalars)} = {self.scalar(2)}")

    @contextmanager
    def _method(self, made: Class, head: str) -> Iterator[None]:
        with self.function(head, {"x": Sort.SCALAR}):
            self.scope.names["self"] = Sort.OBJECT
            self.scope.classes["self"] = made
            yield

    def _layer_methods(self, made: Class) -> None:
        with self._method(made, "def build(self, shape):"):
            del self.scope.names["x"]
            self.line("self.scale = self.add_weight(shape=(), initializer='ones')")
            if self.chance(0.4):
                self.line("self.early = self.scale * 2.0")
        early = self.lines[-1].strip().startswith("self.early")
        with self._method(made, "def call(self, x):"):
            self.line(f"return {self.scalar(1)} * self.{'early' if early and self.chance(0.7) else 'scale'}")
        made.methods.append("__call__")

    # -- the whole ------------------------------------------------------------------------------

    def program(self) -> str:
        for _ in range(self.rng.randint(2, 3)):
            trainable = ", trainable=False" if self.chance(0.08) else ""
            self.line(f"{self.new('w')} = tf.Variable({self.rng.choice(['0.5', '1.5', '2.0'])}{trainable})")
            self.bind(f"w{self.made}", Sort.VARIABLE)
        if self.chance(0.6):
            self.line(f"{self.new('k')} = tf.Variable([1.0, 2.0])")
            self.bind(f"k{self.made}", Sort.WEIGHTS)
        if self.chance(0.7):
            self.line(f"{self.new('c')} = tf.constant(1.2)")
            self.bind(f"c{self.made}", Sort.SCALAR)
        if self.chance(0.2):
            self.line(f"{self.new('net')} = {self._layer()}")
            self.bind(f"net{self.made}", Sort.LAYER)
        for _ in range(self.rng.randint(1, 3)):
            roll = self.rng.random()
            if roll < 0.45:
                self.helper()
            elif roll < 0.7:
                self.define_class()
            self.statements(self.rng.randint(0, 2), 1)
        while self.asks < 2 and len(self.lines) < 90:
            self.statements(2, 3 if self.spread else 2)
            self._tape(3 if self.spread else 2)
        return HEAD + "\n".join(self.lines) + "\n"

    def _layer(self) -> str:
        return self.rng.choice(
            [
                "keras.layers.Dense(2)",
                "keras.Sequential([keras.layers.Dense(2)])",
                "keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3, activation='tanh'),"
                " keras.layers.Dense(1)])",
                "keras.layers.Dense(1, use_bias=False)",
            ]
        )


if __name__ == "__main__":
    print(program(int(sys.argv[1])), end="")
