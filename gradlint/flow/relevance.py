"""Relevance: one walk of the tree that says which functions are worth running though nobody calls them.

Which syntax makes them so says `triggers.py`. The same walk notes what is asked of the whole text later: which names
are used, and who assigns which attribute; an attribute of an open `self` is trusted only where nothing but `__init__`
assigns it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from copy import copy

from gradlint.flow.bound_names import BoundNames, last_name
from gradlint.flow.switches import Switches
from gradlint.flow.triggers import (
    CHANGE_VARIABLES,
    DIFFERENTIATES,
    JUDGED_ALONE,
    SET_FOR_TRAINING,
    is_tensor_index,
    triggers,
)

_MUTATORS = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "add", "appendleft", "popleft"}
)
_SCALES_LOSS = frozenset({"scale_loss", "get_scaled_loss", "LossScaleOptimizer", "loss_scale"})
_MAKES_WEIGHTS = frozenset({"add_weight", "Variable", "add_variable"})


def _base_of(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Owners = tuple[ast.AST, ...]
"""The module, and the functions around a node, outermost first."""

#: The other nodes that say anything; most by far are constants.
_TELLING = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem,
    ast.Expr, ast.Return, ast.Subscript, ast.BinOp, ast.Dict, ast.keyword, ast.Import, ast.ImportFrom, ast.Global,
    ast.ClassDef,
)  # fmt: skip
_NO_CHILDREN = frozenset({"ctx", "op", "ops"})
_CHILDREN: dict[type, tuple[str, ...]] = {}


def children(node: ast.AST) -> Iterable[ast.AST]:
    """The nodes right below a node, without those that only say how it is meant (`Load`, `Add`)."""
    names = _CHILDREN.get(type(node))
    if names is None:
        names = _CHILDREN[type(node)] = tuple(each for each in node._fields if each not in _NO_CHILDREN)
    for name in names:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, ast.AST):
                    yield each


def _parameters(function: Def) -> set[str]:
    spec = function.args
    named = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg)
    return {each.arg for each in named if each is not None}


def _asks_gradient(node: ast.Call) -> bool:
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr not in ("gradient", "jacobian", "batch_jacobian"):
        return False
    return len(node.args) + len(node.keywords) >= 2


class Relevance:
    """What one walk of a module shows: who differentiates, who assigns which attribute.

    The walk moves the tree down by `rows`. `include` adds what another module shows.
    """

    def __init__(self, tree: ast.Module, rows: int = 0) -> None:
        self.assigned_outside_init: set[str] = set()
        self.rebound_globals: set[str] = set()
        self.global_statements: set[str] = set()
        self.gradient_calls: list[ast.Call] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.regularises = False  # some layer of the file may add losses of its own, or they are read
        self.adds_losses = self.has_regularizers = False  # the same, of what is written in the file
        self.regularises_by_hand = False
        self.watches = self.reads_watched = self.reads_trainable = False
        self.scales_loss = self.sets_weights = False
        self.weight_names: set[str] = set()
        self.names_weights_by_code = False
        self._naming_calls: list[ast.Call] = []
        self._assignments: dict[str, int] = {}  # outside `__init__` and `build`, by last name
        self._direct: set[ast.AST] = set()
        self._alone: set[ast.AST] = set()
        self._called: dict[ast.AST, set[str]] = {}
        self._defs: list[tuple[ast.AST, str]] = []
        self._aliases: set[str] = set()
        self.switches = Switches()
        self.bound = BoundNames()
        self.keywords: set[str] = set()
        # what is decided when all names are known: items that are assigned, `w += x`, products; with what is around
        self._judged_alone: set[str] = set()  # what such things are called here
        self._on_parameters: set[str] = set()  # functions that change variables or items of what they are given
        self._around: dict[ast.AST, ast.AST] = {}
        self._items_assigned: list[tuple[ast.Subscript, Owners]] = []
        self._augmented: list[tuple[ast.AugAssign, Owners]] = []
        self._products: list[tuple[ast.BinOp | ast.AugAssign, Owners]] = []
        self._rates: list[tuple[ast.expr, Owners]] = []  # that optimizers are given
        self._reads: dict[ast.AST, tuple[str, ...]] = {}
        self._module_assigned: dict[str, int] = {}
        self._relevant: set[ast.AST] | None = None
        self._walk(tree, rows)
        self._conclude()
        self._add_renamed(tree)

    @property
    def relevant(self) -> set[ast.AST]:
        """The functions from which a gradient can be asked, or that are worth running for another reason."""
        if self._relevant is None:
            self._relevant = self._propagate() | self._alone
        return self._relevant

    def training(self, imported: Collection[str] = ()) -> set[str]:
        """The names of the functions, at any depth, from which a gradient can be asked, of imported ones or here."""
        relevant = self._propagate(frozenset(imported))
        return {name for node, name in self._defs if node in relevant and name}

    def add_training(self, names: Collection[str]) -> None:
        """Whoever uses these imported names can ask for a gradient."""
        self._aliases.update(names)
        self._relevant = None

    def copy(self) -> Relevance:
        """The same, for `include` to add to."""
        made = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, set | dict | list):
                setattr(made, name, value.copy())
        return made

    def include(self, other: Relevance) -> None:
        """Add what another module shows, whose code is run together with this one's."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if name == "_relevant":
                continue
            if name == "_assignments":
                for key, count in value.items():
                    mine[key] = mine.get(key, 0) + count
            elif isinstance(value, set | dict):
                mine.update(value)
            elif isinstance(value, list):
                mine.extend(value)
            else:
                setattr(self, name, mine or value)
        self._relevant = None

    def _walk(self, tree: ast.Module, rows: int) -> None:
        self._called[tree] = set()
        # (node, enclosing defs, inside __init__)
        stack: list[tuple[ast.AST, Owners, bool]] = [(tree, (tree,), False)]
        while stack:
            node, owners, init = stack.pop()
            if rows and "lineno" in node._attributes:
                node.lineno += rows  # type: ignore[attr-defined]
                node.end_lineno += rows  # type: ignore[attr-defined]
            if isinstance(node, ast.Name):
                self._name_used(node.id, owners)
                if isinstance(node.ctx, ast.Store):
                    assigned = self._assignments if len(owners) > 1 else self._module_assigned
                    assigned[node.id] = assigned.get(node.id, 0) + 1
                continue
            if isinstance(node, ast.Attribute):
                self._attribute(node, owners, init)
            elif isinstance(node, ast.Call):
                self._called_here(node, owners, init)
            elif isinstance(node, Def):
                name = "" if isinstance(node, ast.Lambda) else node.name
                self._defs.append((node, name))
                self._around[node] = owners[-1]
                self._called[node] = set()
                owners = (*owners, node)
                if name:
                    init = name in ("__init__", "build") if len(owners) == 2 else init or name in ("__init__", "build")
            elif isinstance(node, _TELLING):
                self._noted(node, owners, init)
            stack.extend((child, owners, init) for child in children(node))
        self.rebound_globals.update(name for name, count in self._module_assigned.items() if count > 1)

    def _noted(self, node: ast.AST, owners: Owners, init: bool) -> None:
        """See a node that is neither a name nor a call."""
        if triggers(node):
            self._alone.update(owners)
        self.bound.note(node)
        self.switches.note(node)
        match node:
            case ast.ImportFrom() | ast.Import():
                self.imports.append(node)
                for alias in node.names:
                    if alias.name in DIFFERENTIATES:
                        self._aliases.add(alias.asname or alias.name)
                    elif alias.name in JUDGED_ALONE:
                        self._judged_alone.add(alias.asname or alias.name)
            case ast.Subscript():
                if not isinstance(node.ctx, ast.Load):
                    self._items_assigned.append((node, owners))
                    if isinstance(node.value, ast.Attribute) and not init:
                        self.assigned_outside_init.add(node.value.attr)
            case ast.AugAssign() | ast.BinOp():
                if isinstance(node, ast.AugAssign):
                    self._augmented.append((node, owners))
                if isinstance(node.op, ast.Mult):
                    self._products.append((node, owners))
            case ast.Return() if isinstance(owners[-1], ast.FunctionDef | ast.AsyncFunctionDef) and node.value:
                self.bound.bind_name(owners[-1].name, node.value)
            case ast.Global():
                self.rebound_globals.update(node.names)
                self.global_statements.update(node.names)
            case ast.keyword() if node.arg:
                self.keywords.add(node.arg)
                if node.arg == "learning_rate":
                    self._rates.append((node.value, owners))

    def _attribute(self, node: ast.Attribute, owners: Owners, init: bool) -> None:
        self._name_used(node.attr, owners)
        if triggers(node):
            self._alone.update(owners)
        if node.attr in CHANGE_VARIABLES and isinstance(owners[-1], Def):
            base = _base_of(node.value)
            if isinstance(base, ast.Name) and base.id in _parameters(owners[-1]):
                self._on_parameters.add(getattr(owners[-1], "name", ""))
        if not isinstance(node.ctx, ast.Load):
            if not init:
                self.assigned_outside_init.add(node.attr)
                self._assignments[node.attr] = self._assignments.get(node.attr, 0) + 1
        elif node.attr.endswith("_regularizer"):
            self.regularises_by_hand = True
        elif node.attr == "trainable":
            self.reads_trainable = True

    def _called_here(self, node: ast.Call, owners: Owners, init: bool) -> None:
        self.switches.note(node)
        function = node.func
        last = last_name(function) if isinstance(function, ast.Attribute | ast.Name) else ""
        if last in _MAKES_WEIGHTS:
            self._weight_named(node)
        elif isinstance(function, ast.Name) and any(each.arg == "name" for each in node.keywords):
            self._naming_calls.append(node)
        if any("regularizer" in (each.arg or "") for each in node.keywords):
            self.regularises = self.adds_losses = self.has_regularizers = True
        if _asks_gradient(node):
            self.gradient_calls.append(node)
        if (
            isinstance(function, ast.Attribute)
            and function.attr in _MUTATORS
            and isinstance(function.value, ast.Attribute)
            and not init
        ):
            self.assigned_outside_init.add(function.value.attr)
        elif isinstance(function, ast.Name) and function.id in ("setattr", "getattr") and len(node.args) > 1:
            name_node = node.args[1]
            if isinstance(name_node, ast.Constant) and isinstance(name_node.value, str):
                if function.id == "setattr":
                    self.assigned_outside_init.add(name_node.value)
                    if name_node.value in SET_FOR_TRAINING:
                        self._alone.update(owners)
                else:
                    self._name_used(name_node.value, owners)

    def _add_renamed(self, tree: ast.Module) -> None:
        """Calls of `make(..., name="outer")` after `make = self.add_weight`."""
        makers = {
            name.id
            for each in (ast.walk(tree) if self._naming_calls else ())
            if isinstance(each, ast.Assign) and getattr(each.value, "attr", "") in _MAKES_WEIGHTS
            for name in each.targets
            if isinstance(name, ast.Name)
        }
        for call in self._naming_calls:
            if isinstance(call.func, ast.Name) and call.func.id in makers:
                self._weight_named(call)

    def _weight_named(self, node: ast.Call) -> None:
        """Remember what a weight is called, where that is written out."""
        given = [each.value for each in node.keywords if each.arg == "name"]
        given += [each for each in node.args if isinstance(each, ast.Constant | ast.JoinedStr)]
        for each in given:
            if isinstance(each, ast.Constant):
                if isinstance(each.value, str):
                    self.weight_names.add(each.value)
            else:
                self.names_weights_by_code = True

    def _conclude(self) -> None:
        """What shows when all names of the file are known."""
        for function, _ in reversed(self._defs):  # inner ones first
            self._called[self._around[function]] |= self._called[function]
        names = next(iter(self._called.values()))
        self.regularises |= not names.isdisjoint(("add_loss", "losses", "regularizers"))
        self.has_regularizers |= "regularizers" in names
        self.adds_losses |= not names.isdisjoint(("add_loss", "regularizers"))
        self.watches = "watch" in names
        self.reads_watched = "watched_variables" in names
        self.scales_loss = not names.isdisjoint(_SCALES_LOSS)
        self.sets_weights = not names.isdisjoint(("set_weights", "load_weights"))
        self.switches.conclude(names, self.bound)
        if self._judged_alone:
            self._alone.update(owner for owner, used in self._called.items() if not used.isdisjoint(self._judged_alone))
        for statement, owners in self._augmented:
            if self.bound.may_hold_variable(statement.target):
                self._alone.update(owners)
        for rate, owners in self._rates:
            if self.bound.may_hold_variable(rate):
                self._alone.update(owners)
        for product, owners in self._products:
            sides = (product.left, product.right) if isinstance(product, ast.BinOp) else (product.target, product.value)
            if any(map(self.bound.may_be_boolean, sides)):
                self._alone.update(owners)
        self._add_item_assigners()
        self._on_parameters.discard("")
        if self._on_parameters:  # what is judged there rests on what those that call it hand over
            asked = self._on_parameters
            self._alone.update(owner for owner, used in self._called.items() if not used.isdisjoint(asked))

    def _add_item_assigners(self) -> None:
        """Functions that assign to an item of what could be a tensor, or copies a variable."""
        bound_in: dict[ast.AST, BoundNames] = {}
        for store, owners in self._items_assigned:
            function, base = owners[-1], _base_of(store)
            if function in self._alone or not isinstance(function, Def):
                continue
            is_slice = is_tensor_index(store)
            if isinstance(base, ast.Name) and not is_slice and getattr(function, "name", "") != "update_step":
                if function not in bound_in:
                    bound_in[function] = bound = BoundNames()
                    for each in ast.walk(function):
                        bound.note(each)
                local = bound_in[function]
                if base.id not in local.values and base.id in _parameters(function):
                    if not isinstance(store.slice, ast.Slice):
                        continue
                    self._on_parameters.add(getattr(function, "name", ""))
                else:
                    bound = local if base.id in local.values else self.bound
                    if not bound.may_hold_tensor(base.id) and not self.bound.copies_variable(base.id):
                        continue
            self._alone.update(owners)

    def _name_used(self, name: str, owners: Owners) -> None:
        self._called[owners[-1]].add(name)
        if name in DIFFERENTIATES:
            self._direct.update(owners)
        elif name in JUDGED_ALONE:
            self._alone.update(owners)

    def _propagate(self, imported: frozenset[str] = frozenset()) -> set[ast.AST]:
        by_name: dict[str, list[ast.AST]] = {}
        for node, name in self._defs:
            if name:
                by_name.setdefault(name, []).append(node)
        callers: dict[str, list[ast.AST]] = {}
        for owner, names in self._called.items():
            for name in names:
                if name in by_name:
                    callers.setdefault(name, []).append(owner)
        names_of = {node: name for node, name in self._defs}
        relevant = set(self._direct)
        for owner, names in self._called.items():
            if names & self._aliases or names & imported:
                relevant.add(owner)
        work = list(relevant)
        while work:
            node = work.pop()
            for caller in callers.get(names_of.get(node, ""), ()):
                if caller not in relevant:
                    relevant.add(caller)
                    work.append(caller)
        return relevant

    @property
    def only_evaluates(self) -> bool:
        """Whether models are evaluated in this file and never trained."""
        used = set().union(*self._called.values())
        return bool(used & {"evaluate", "test_on_batch"}) and not used & {"fit", "train_on_batch", "fit_generator"}

    def is_assigned_once(self, name: str) -> bool:
        """Whether only one statement outside constructors assigns to an attribute or global of this name."""
        return self._assignments.get(name, 0) == 1

    def uses(self, name: str) -> bool:
        """Whether the file reads, binds or gives something of this name: a name, an attribute or an argument."""
        return name in self.keywords or name in next(iter(self._called.values()))

    def names_read(self, node: ast.AST) -> tuple[str, ...]:
        """The names used in a function, nested ones included, in a stable order."""
        found = self._reads.get(node)
        if found is None:
            names = {each.id: None for each in ast.walk(node) if isinstance(each, ast.Name)}
            found = self._reads[node] = tuple(names)
        return found
