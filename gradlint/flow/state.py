"""State: what one run remembers: cells, tapes, frames, fuel, and what it will be asked about at the end."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradlint.flow.facts import Known, Subject
from gradlint.flow.objects import (
    Class,
    Function,
    HeapObject,
    Module,
    Progress,
    Tape,
    Variable,
)
from gradlint.flow.relevance import Relevance
from gradlint.flow.scopes import Frame, Names, Scope, names_of
from gradlint.flow.sources import ROWS, Source, Sources
from gradlint.flow.store import Delta, Key, Store
from gradlint.flow.values import Fill, How, Kind, Value
from gradlint.knowledge.activations import Numbers

#: Evaluations (never seconds, so that every machine reports the same).
FUEL_PER_ENTRY = 60_000
FUEL_PER_FILE = 1_500_000
#: For the bodies of all modules that a file needs: of one that others import, and of a program. One statement may take
#: a fifth of it.
FUEL_FOR_IMPORTS, FUEL_FOR_IMPORTS_OF_PROGRAM = 2_000, 6_000
#: Modules that a script may lead to, and a file that others import; further ones are opaque.
MOST_MODULES_OF_PROGRAM, MOST_MODULES = 100, 15
#: Evaluations in functions of other files: of what the file itself runs, of one function that nobody calls, of all
#: those. What a statement takes is a guess, for functions that are too long for what is left.
FUEL_ABROAD, FUEL_ABROAD_PER_OPEN, FUEL_ABROAD_OPEN, FUEL_PER_STATEMENT = 5_000, 1_000, 2_000, 15
RECORDING: Key = (0, "recording")
EAGER_FUNCTIONS: Key = (0, "functions run eagerly")
#: The clock of the file that is judged starts here. Each module that it imports runs earlier, in a stretch of its own:
#: whenever a name of it is first needed, what its body makes is older than all that the importing file makes.
START = 10**13
STRETCH = 10**10


class OutOfFuel(Exception):
    """The entry function has used its evaluations."""


@dataclass(eq=False, slots=True)
class Exits:
    """Where `break`, `continue` and `return` of a running loop or function leave their cells."""

    level: int
    pass_level: int = 0
    tapes_open: int = 0
    breaks: list[Delta] = field(default_factory=list)
    continues: list[Delta] = field(default_factory=list)
    returns: list[tuple[Value, Delta]] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    on_yield: Any = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something seen while code ran: `notes.py` makes an event of this class of it. `detail` is what that needs."""

    event: type
    node: ast.AST
    frame: Frame
    certain: bool
    detail: tuple[Any, ...] = ()
    # what happened before, in the order of running: what, and where
    steps: tuple[tuple[str, ast.AST], ...] = ()
    after: tuple[tuple[str, ast.AST], ...] = ()
    # asked when the run is over: whether nothing seen later speaks against it
    holds: Callable[[], bool] | None = None


@dataclass(eq=False)
class State:
    """Runs one file abstractly, and what it needs of others. `asked` is what it leaves behind for `gradients.py`.

    Evaluating and calling need each other; the lower modules reach the higher ones through the six
    attributes below, which `flow/__init__.py` fills in, so that imports point one way.
    """

    source: Source
    sources: Sources

    evaluate: Callable[[ast.AST], Value] = field(init=False)
    run_body: Callable[[Sequence[ast.stmt]], None] = field(init=False)
    call: Callable[[Value, Any, ast.AST], Value] = field(init=False)
    get_attribute: Callable[[Value, str, ast.AST], Value] = field(init=False)
    resolve: Callable[[Value], Value] = field(init=False)
    starred: Callable[[Module, str, ast.AST], Value | None] = field(init=False)
    # of all files that were run, together
    relevance: Relevance = field(init=False)
    store: Store = field(default_factory=Store)
    clock: int = START
    havoc: int = -1
    havocs: list[int] = field(default_factory=list)
    fuel: int = FUEL_PER_ENTRY
    fuel_left: int = FUEL_PER_FILE
    alive: bool = True
    tapes: list[Tape] = field(default_factory=list)
    auto_watch: int = 0
    auto_watch_surely: int = 0
    watched: dict[int, int] = field(default_factory=dict)
    surely_watched: dict[int, int] = field(default_factory=dict)
    # tapes that watch a set of variables of which not all are known
    watched_open: int = 0
    # by id of a variable or of the owner of all of its variables
    watched_ids: dict[int, int] = field(default_factory=dict)
    # by id of an owner of which some variable is watched
    watched_some: dict[int, int] = field(default_factory=dict)
    watch_nodes: dict[tuple[int, int], ast.AST] = field(default_factory=dict)
    written_at: dict[Key, int] = field(default_factory=dict)
    attribute_names: dict[int, dict[object, None]] = field(default_factory=dict)
    loops: list[Exits] = field(default_factory=list)
    calls: list[Exits] = field(default_factory=list)
    # tapes to clear, then to set surely and possibly
    open_withs: list[tuple[int, int, int]] = field(default_factory=list)
    peeled: int = 0
    doubt: int = 0
    joined: int = 0
    loop_depth: int = 0
    # what optimizers were given, and what it is to move, by what identifies it
    applied: list[Value] = field(default_factory=list)
    moved: dict[object, Value] = field(default_factory=dict)
    # graphs that were made, by function and object; the one that is being made; models fitted, and what they train
    traced: dict[tuple[int, int], Any] = field(default_factory=dict)
    tracing: Any = None
    trainable_sets: list[Any] = field(default_factory=list)
    callback_functions: set[ast.AST] = field(default_factory=set)
    fits: dict[int, tuple[int, ast.AST]] = field(default_factory=dict)
    fit_members: dict[int, dict[int, bool | None]] = field(default_factory=dict)
    # an id taken at the start of the running turn of a loop, and of the turn in which an optimizer was made
    turn: int = 0
    made_in: dict[int, tuple[int, Frame]] = field(default_factory=dict)
    # what optimizers were built with: ids of variables and layers, and where
    built_with: dict[int, Any] = field(default_factory=dict)
    # methods that were called on a variable, by its id; whether `assign` was called on something unknown
    assigned: dict[int, set[str]] = field(default_factory=dict)
    assigns_unknown: bool = False
    # by optimizer and variable: what the masks of the gradients applied so far were
    never_read: dict[tuple[int, str, bool], bool] = field(default_factory=dict)  # what `rebinding.py` knows of the text
    none_filtered: dict[ast.AST, ast.AST] = field(default_factory=dict)  # gradient call -> where None are left out
    spent: dict[int, set[int]] = field(default_factory=dict)  # call -> serials of gradients that were applied there
    mask_history: dict[tuple[int, object], list[frozenset[Fill]]] = field(default_factory=dict)
    # the variable that a mask was made for, by its serial; variables that are decayed by hand; the clock of this turn
    meant_for: dict[int, Value] = field(default_factory=dict)
    decayed: set[object] = field(default_factory=set)
    mask_written: set[int] = field(default_factory=set)
    misfits: set[ast.AST] = field(default_factory=set)  # what was computed and given to a variable of another shape
    # values that `tf.where` or a mask picks from: what is wrong with them alone is told there, or hidden
    # differences over more entries than was meant: whether something that is not linear was computed of each
    broadcast: dict[int, bool] = field(default_factory=dict)
    chosen: set[int] = field(default_factory=set)
    # layers that were called, and where; functions that compute a compiled loss; lists of which Keras took a copy, with
    # the owner; the policy of float16 that was set
    half_policy: str = ""
    applied_calls: set[ast.AST] | None = None  # when the run is over: gradient calls that end in an update
    weights_read: frozenset[int] = frozenset()  # ids of variables that operations took in
    entered_closed: frozenset[ast.AST] = frozenset()  # functions that the module's own code ran
    symbolic_calls: list[Value] = field(default_factory=list)  # layers called while a functional model is put together
    divergences: bool = False  # a divergence is taken from the targets to the predictions
    gradients_made: bool = False
    stand_for_many: set[int] = field(default_factory=set)  # serials of what any element of a list is taken for
    sets_read: set[int] = field(default_factory=set)  # owners of which the trainable variables were asked for
    # calls of layers of the file that Keras traces: the clock when each began, and what it was given
    traced_calls: tuple[tuple[int, frozenset[int]], ...] = ()
    stand_ins: set[int] = field(default_factory=set)  # Keras tensors that are real ones where a gradient is asked
    training_mode: Value | None = None  # of the layer that is being called, where it was told
    array_writes: dict[int, list[Value]] = field(default_factory=dict)  # by serial: what was written into an array
    numbers_met: dict[int, Numbers | None] = field(default_factory=dict)  # by serial, while one question is answered
    copies_told: set[tuple[int, int]] = field(default_factory=set)  # networks that are no copies of each other
    hidden: set[int] = field(default_factory=set)  # layers and variables kept where Keras does not look
    called_layers: dict[int, set[ast.AST]] = field(default_factory=dict)
    # while a compiled loss is computed: what was predicted, and the functions of the file that are handed it, as what
    handed: Value | None = None
    handed_to: list[tuple[Function, str]] = field(default_factory=list)
    loss_functions: set[ast.AST] = field(default_factory=set)
    copied_lists: dict[int, Value] = field(default_factory=dict)
    seen_by_keras: set[int] | None = None  # when the run is over: what Keras finds in the models of the file
    masked: set[int] = field(default_factory=set)
    tested: list[Value] = field(default_factory=list)  # tensors that a branch or an assertion asks about
    losses_used: bool = False  # some target holds what layers add to the loss
    turn_clock: int = 0
    # arms of branches that are being run
    arms: int = 0
    # lookups along another axis than the first, or with batches: their gradients are dense
    dense_lookups: set[int] = field(default_factory=set)
    # lazy values in the order they were made; ids of those that are being consumed; whether nothing runs any more
    lazy_values: list[Value] = field(default_factory=list)
    drawing: set[int] = field(default_factory=set)
    is_over: bool = False
    # by serial of a join: the facts of each arm that it comes from; by serial of an unknown: when it was last called
    ways: dict[int, tuple[tuple[dict[Subject, Known], Value], ...]] = field(default_factory=dict)
    called_on: dict[int, int] = field(default_factory=dict)
    namespaces: set[int] = field(default_factory=set)  # serials of what `globals()` and its likes returned
    # calls of one of several alternatives
    choosing: int = 0
    # the subscript of an augmented assignment that is being run
    augmenting: ast.AST | None = None
    # names that loops of the module bind
    loop_names: set[str] = field(default_factory=set)
    # the same of functions: the frame and the name
    own_loop_names: set[tuple[int, str]] = field(default_factory=set)
    # enclosing branches whose test depends on the number of steps, and arrays written to in such a branch
    timed: int = 0
    many: set[int] = field(default_factory=set)  # serials of elements that stand for as many as a set of variables has
    timed_values: set[int] = field(default_factory=set)
    timed_keys: set[Key] = field(default_factory=set)
    perhaps_cached: dict[Key, Value] = field(default_factory=dict)
    # enclosing blocks whose author expects an error
    expected: int = 0
    asked: list[Any] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    stack: list[tuple[ast.AST, int, int]] = field(default_factory=list)
    entered: set[ast.AST] = field(default_factory=set)
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    open_instances: dict[int, Value] = field(default_factory=dict)
    unknown_globals: dict[str, Value] = field(default_factory=dict)
    member_values: dict[tuple[int, str], Value] = field(default_factory=dict)
    names: dict[ast.AST, Names] = field(default_factory=dict)
    eager: bool | None = True
    keras_3: bool = True
    # what a file switches on for itself: NumPy's rules for tensors, gradients of its own, whether functions are traced
    numpy_behaviour: bool = False
    registers_gradients: bool = False
    sets_eager_functions: bool = False
    runs_eagerly: bool = False
    compiles_xla: bool = False
    differentiable: frozenset[str] = frozenset()
    nondifferentiable: frozenset[str] = frozenset()
    open_code: bool = False
    # modules of the project by path; the sources that were run, by number; evaluations left for modules
    modules: dict[str, Module] = field(default_factory=dict)
    sources_run: dict[int, Source] = field(default_factory=dict)
    modules_run: int = 0
    imported_names: dict[tuple[str, str], Value] = field(default_factory=dict)
    lifted: list[tuple[int, int]] = field(default_factory=list)  # when code ran under `tf.init_scope`
    graph_is_stale: bool = False  # what is called now is a graph of objects that have been replaced
    flags: dict[str, Value] = field(default_factory=dict)  # of absl: they belong to the program, not to a module
    bare_yields: dict[ast.AST, frozenset[ast.AST]] = field(default_factory=dict)
    reads_clock: dict[ast.AST, bool] = field(default_factory=dict)  # what `dropped.py` knows of the text
    # evaluations left for functions of other files; the fuel when the running code went into one, or -1
    abroad_fuel: int = FUEL_ABROAD
    abroad_since: int = -1
    # whether imports are followed: a file that asks for no gradient, and is run by nobody, needs no other
    follows_imports: bool = True
    entered_by_hand: set[int] = field(default_factory=set)  # tapes whose `__enter__` was called
    # whether the file is run by somebody: a script, a test, a notebook
    is_program: bool = False
    fuel_for_imports: int = FUEL_FOR_IMPORTS
    import_fuel: int = FUEL_FOR_IMPORTS
    # variables and layers that are attributes on some ways only
    doubtful: set[int] = field(default_factory=set)
    objects: dict[int, HeapObject] = field(default_factory=dict)
    layer_values: dict[int, Value] = field(default_factory=dict)
    value_of: dict[int, Value] = field(default_factory=dict)
    # values kept as attributes
    held: set[int] = field(default_factory=set)
    # values kept on an object or in a list, with the frame that did it
    stored: dict[int, Frame] = field(default_factory=dict)
    # computed tensors that strangers got hold of: what they compute later may use them
    escaped_tensors: list[tuple[int, Value]] = field(default_factory=list)
    escaped_values: dict[int, int] = field(default_factory=dict)
    # clock, tapes: strangers got a recorded value
    escaped_recordings: list[tuple[int, int]] = field(default_factory=list)
    # by id of a variable or of the owner of its variables: what was assigned to it, for the story of a cut
    written_state: dict[int, list[Value]] = field(default_factory=dict)
    # what `compile` was given: model, loss and the call; and the ids of the models that were fitted
    compiled: list[tuple[Value, Value, ast.AST]] = field(default_factory=list)
    loss_nodes: dict[int, ast.AST] = field(default_factory=dict)
    fitted: set[int] = field(default_factory=set)
    gave_up: list[tuple[ast.AST, str]] = field(default_factory=list)
    # the file that is judged
    entry: Module = field(init=False)
    next_id: int = 2
    frame: Frame = field(init=False)
    # the module whose statement, or whose uncalled function, is being run
    base: Frame = field(init=False)

    def __post_init__(self) -> None:
        path = os.path.abspath(self.source.file.filename)
        self.entry = self.modules[path] = Module(self.new_id(), "__main__", path)
        self.give_source(self.entry, self.source)
        self.entry.progress = Progress.RUNNING
        assert self.entry.frame is not None
        self.frame = self.base = self.entry.frame
        self.relevance = self.source.relevance.copy()
        self.store.cells[RECORDING] = Value(Kind.LITERAL, How.FRESH, 0, ref=(0, 0))
        self.store.cells[EAGER_FUNCTIONS] = Value(Kind.LITERAL, How.FRESH, 0, ref=False)

    def give_source(self, module: Module, source: Source) -> None:
        """Make a module ready to be run."""
        module.source = self.sources_run[source.number] = source
        module.frame = Frame(self.new_id(), None, None, None, None, self.names_of(source.tree), name="<module>")
        module.frame.module = module

    def nodes(self, name: str) -> Iterator[ast.AST]:
        """Every node of every file that was run and uses a name: what is said anywhere in the program's text."""
        for source in list(self.sources_run.values()):
            if source.relevance.uses(name):
                yield from ast.walk(source.tree)

    def learn_from(self, source: Source) -> None:
        """Note what a file switches on for the whole program."""
        switches = source.relevance.switches
        if switches.leaves_eager:
            self.eager = None
        self.keras_3 = self.keras_3 and not switches.keras_2
        self.numpy_behaviour = self.numpy_behaviour or switches.numpy_behaviour
        self.registers_gradients = self.registers_gradients or switches.registers_gradients
        self.runs_eagerly = self.runs_eagerly or switches.runs_eagerly
        self.compiles_xla = self.compiles_xla or switches.compiles_xla
        self.sets_eager_functions = self.sets_eager_functions or switches.sets_eager_functions

    @property
    def module(self) -> Frame:
        """The frame of the module that the running code stands in."""
        return self.frame.top

    @property
    def tree(self) -> ast.Module:
        """The tree of the module that the running code stands in."""
        module = self.frame.top.module
        assert module is not None and module.source is not None
        return module.source.tree

    def new_id(self) -> int:
        """A fresh id for a frame or heap object."""
        self.next_id += 1
        return self.next_id

    def tick(self) -> int:
        """Advance the clock: the serial number of a new value."""
        self.clock += 1
        return self.clock

    def burn(self) -> None:
        """Use one evaluation.

        Raises:
            OutOfFuel: nothing is left for this entry or this file.
        """
        self.fuel -= 1
        if self.fuel <= 0:
            raise OutOfFuel

    def may_go_abroad(self, function: Function) -> bool:
        """Whether there is fuel for a call of a function in another file."""
        used = self.abroad_since - self.fuel if self.abroad_since >= 0 else 0
        source = self.sources_run.get(function.node.lineno // ROWS)
        counts: dict[ast.AST, int] = source.memo.setdefault("statements", {}) if source is not None else {}
        if function.node not in counts:
            counts[function.node] = sum(isinstance(each, ast.stmt) for each in ast.walk(function.node))
        return self.abroad_fuel - used > counts[function.node] * FUEL_PER_STATEMENT

    def note(
        self,
        event: type,
        node: ast.AST,
        *detail: Any,
        certain: bool = True,
        steps: tuple[tuple[str, ast.AST], ...] = (),
        after: tuple[tuple[str, ast.AST], ...] = (),
        holds: Callable[[], bool] | None = None,
        frame: Frame | None = None,
    ) -> None:
        """Remember something that was seen here, or in another frame; nothing where the author expects an error.

        `certain` says whether it is so wherever this is reached. Whether this is surely reached is decided here alone.
        """
        if not self.expected:
            sure = certain and self.doubt == 0
            self.notes.append(Note(event, node, frame or self.frame, sure, detail, steps, after, holds))

    def names_of(self, scope: Scope) -> Names:
        """The names that a scope binds, remembered for this file."""
        names = self.names.get(scope)
        if names is None:
            source = self.sources_run.get(getattr(scope, "lineno", 0) // ROWS)
            if source is None:
                names = names_of(scope)
            else:  # for the next file that needs this one
                known = source.memo.setdefault("names", {})
                names = known.get(scope)
                if names is None:
                    names = known[scope] = names_of(scope)
            self.names[scope] = names
        return names

    def fresh(self, kind: Kind, node: ast.AST | None = None, *, ref: Any = None, label: str = "") -> Value:
        """A value made from nothing that carries a gradient."""
        if isinstance(ref, HeapObject):
            self.objects[ref.id] = ref
            if isinstance(ref, Variable):
                made = Value(kind, How.FRESH, self.tick(), ref=ref, node=node, frame=self.frame, label=label)
                self.value_of.setdefault(ref.id, made)
                return made
        return Value(kind, How.FRESH, self.tick(), ref=ref, node=node, frame=self.frame, label=label)

    def parameter(self, name: str, node: ast.AST | None = None) -> Value:
        """An unknown given from outside; what it holds has always been known to strangers."""
        return Value(
            Kind.UNKNOWN,
            How.PARAMETER,
            self.tick(),
            node=node,
            frame=self.frame,
            label=name,
            because=f"`{name}` is given from outside",
        )

    def part(self, base: Value, node: ast.AST | None, *, item: bool = False) -> Value:
        """Something read out of an unknown: an attribute, or (`item`) an element."""
        if item and base.how is How.OPAQUE_CALL and base.is_computed:
            return Value(
                Kind.UNKNOWN, How.OPAQUE_CALL, self.tick(), inputs=(base,), possible=base.possible,
                node=node, frame=self.frame, label=base.label, because=base.because, root=base,
            )  # fmt: skip
        return Value(
            Kind.UNKNOWN, How.PART, self.tick(), inputs=(base,), node=node, frame=self.frame,
            root=base.root if base.root is not None else base, because=base.because, label="part",
        )  # fmt: skip

    def unknown_global(self, name: str, because: str) -> Value:
        """One and the same unknown for one name."""
        value = self.unknown_globals.get(name)
        if value is None:
            value = self.unknown_globals[name] = Value(
                Kind.UNKNOWN, How.PARAMETER, 0, frame=self.module, label=name, because=because
            )
        return value

    def state_unknown(self, name: str, because: str, node: ast.AST | None) -> Value:
        """An unknown read out of state that others may have written: the same root, read now."""
        root = self.unknown_global(name, because)
        return Value(
            Kind.UNKNOWN, How.PART, self.tick(), inputs=(root,), node=node, frame=self.frame, label="part",
            because=because, root=root,
        )  # fmt: skip
