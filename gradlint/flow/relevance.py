"""Relevance: one cheap walk of the tree that says what has to be interpreted at all.

Only functions from which a gradient can be asked are run as entries of their own; and an
attribute of an open `self` is trusted only where nothing but `__init__` assigns it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from copy import copy

from gradlint.knowledge.pure_functions import ARITHMETIC, BEGINS_LINE, CHANGING, SHAPING

#: Attributes and names whose call differentiates, or trains.
DIFFERENTIATES = frozenset(
    {
        "GradientTape",
        "ForwardAccumulator",
        "gradient",
        "jacobian",
        "batch_jacobian",
        "gradients",
        "jvp",
        "minimize",
        "compute_gradients",
        "fit",
        "train_on_batch",
        "fit_generator",
    }
)
#: What makes the function that it stands in worth running, and its callers no more than they were.
JUDGED_ALONE = frozenset(
    {
        "compile",
        "minimize",
        "assign",
        "apply_gradients",
        "scatter_nd_update",
        "scatter_nd_sub",
        "scatter_nd_add",
        "scatter_update",
        "scatter_sub",
        "scatter_add",
        "tensor_scatter_nd_update",
        "Sequential",
        "Model",
    }
)

#: What makes a file worth interpreting: bytes searched before anything is parsed for flow.
TRIGGERS = (
    "GradientTape",
    "ForwardAccumulator",
    ".gradients(",
    "import gradients",
    ".minimize(",
    "import *",
    ".fit(",
    ".gradient(",
    ".jacobian(",
    "tf.custom_gradient",
    "tensorflow.custom_gradient",
    "apply_gradients",
    "get_weights()",
    "TensorArray",
    "scatter_",
    "assign_sub(",
    "assign_add(",
    ".assign(",
    ".trainable = ",
    "] = ",
    "] -= ",
    "] += ",
    "] *= ",
    "] /= ",
    "clip_by_",
    "tf.where(",
    "def call(",
    "y_pred",
    "Sequential(",
    "Model(",
    "(lr=",
    ", lr=",
    ".lr = ",
)
#: Where a word alone would find too much: in a loop's head these say that it runs over variables or pairs.
_LOOPED_OVER = ("zip(", "variables", "weights")
#: What such a head speaks of, in one word or another, when it pairs variables with their updates.
_HINTS = ("grad", "var", "weight", "param", "target", "source", "accum", "model", "net", "theta", "slow", "fast")
_COMPILE_REACH, _BODY_REACH = 300, 2000


def is_worth_running(text: str) -> bool:
    """Whether anything in the file could be judged. Searching comes before parsing anything for flow."""
    if any(trigger in text for trigger in TRIGGERS) or _compiles_loss(text) or _loops_over_variables(text):
        return True
    return BEGINS_LINE(text) is not None


def _compiles_loss(text: str) -> bool:
    """Whether a loss is given to `compile`, which is not that of `re`."""
    at = text.find(".compile(")
    while at >= 0:
        if not text.endswith("re", 0, at) and "loss" in text[at : at + _COMPILE_REACH]:
            return True
        at = text.find(".compile(", at + 1)
    return False


def _loops_over_variables(text: str) -> bool:
    for word in _LOOPED_OVER:
        at = text.find(word)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            head = text[start : text.find("\n", at)].lstrip()
            if head.startswith("for ") and any(hint in head for hint in _HINTS) and _is_rebound_below(text, start, at):
                return True
            at = text.find(word, at + 1)
    return False


def _is_rebound_below(text: str, start: int, at: int) -> bool:
    """Whether a name of the loop's head stands alone before an assignment in the lines that follow."""
    head = text[start:at].partition(" in ")[0].lstrip()[len("for ") :]
    body = text[at : at + _BODY_REACH]
    names = [name.strip(" ()*") for name in head.split(",")]
    return any(f" {name} {sign} " in body for name in names if name for sign in ("=", "-=", "+=", "*=", "/="))


_MUTATORS = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "add", "appendleft", "popleft"}
)
_SCALES_LOSS = frozenset({"scale_loss", "get_scaled_loss", "LossScaleOptimizer", "loss_scale"})
_MAKES_WEIGHTS = frozenset({"add_weight", "Variable", "add_variable"})
_SETS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})


def _base_of(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def _asks_gradient(node: ast.Call) -> bool:
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr not in ("gradient", "jacobian", "batch_jacobian"):
        return False
    return len(node.args) + len(node.keywords) >= 2


def _rebinds_variables(loop: ast.For) -> bool:
    """Whether a loop over variables, or over several things at once, computes a new value for its own name."""
    over = {each.attr for each in ast.walk(loop.iter) if isinstance(each, ast.Attribute)}
    zipped = any(isinstance(each, ast.Name) and each.id == "zip" for each in ast.walk(loop.iter))
    if not zipped and not over & _SETS:
        return False
    names = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
    for statement in loop.body:
        left = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if isinstance(left, ast.Name) and left.id in names and isinstance(statement, ast.Assign | ast.AugAssign):
            return True
    return False


def _assigns_to_slice(node: ast.Call) -> bool:
    """`v[i].assign_sub(x)`, `tf.gather(v, i).assign(x)`."""
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr in ("assign", "assign_add", "assign_sub")
        and isinstance(function.value, ast.Subscript | ast.Call)
    )


def _drops_result(statement: ast.Expr) -> bool:
    """A call of something like `tf.where(...)` as a statement."""
    function = statement.value.func if isinstance(statement.value, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in CHANGING | SHAPING | ARITHMETIC


_ARRAY_ROOTS = frozenset(
    {"np", "numpy", "list", "dict", "defaultdict", "collections", "OrderedDict", "sorted", "jnp", "torch"}
)


def _is_tensor_like(node: ast.Subscript) -> bool:
    """`x[:, i] = ...`: nothing but an array or a tensor is indexed so."""
    if not isinstance(node.slice, ast.Tuple):
        return False
    return any(isinstance(each, ast.Slice) or ast.unparse(each) == "..." for each in node.slice.elts)


def _may_make_tensor(node: ast.expr) -> bool:
    """Whether an expression could be a tensor: a call of something else than NumPy and the built-in containers."""
    while isinstance(node, ast.BinOp):
        node = node.left
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Attribute)
    root: ast.expr = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    return not (isinstance(root, ast.Name) and root.id in _ARRAY_ROOTS)


def _sets_for_training(node: ast.Attribute) -> bool:
    """`layer.trainable = ...`, `optimizer.lr`, or an attribute of `self.model` that a callback sets."""
    if isinstance(node.ctx, ast.Load):
        return node.attr == "lr"
    of_model = isinstance(node.value, ast.Attribute) and node.value.attr == "model"
    return node.attr in _SET_FOR_TRAINING or of_model


#: Attributes of layers and optimizers that say how to train.
_SET_FOR_TRAINING = frozenset({"trainable", "lr"})


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
        self._items_assigned: dict[ast.AST, list[ast.Subscript]] = {}
        self._reads: dict[ast.AST, tuple[str, ...]] = {}
        self._module_assigned: dict[str, int] = {}
        self._relevant: set[ast.AST] | None = None
        self._walk(tree, rows)
        self._add_renamed(tree)
        self._add_item_assigners()

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
        # (node, enclosing defs, inside __init__)
        stack: list[tuple[ast.AST, tuple[ast.AST, ...], bool]] = [(tree, (tree,), False)]
        while stack:
            node, owners, init = stack.pop()
            if rows and "lineno" in node._attributes:
                node.lineno += rows  # type: ignore[attr-defined]
                node.end_lineno += rows  # type: ignore[attr-defined]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                name = "" if isinstance(node, ast.Lambda) else node.name
                self._defs.append((node, name))
                owners = (*owners, node)
                if name:
                    init = name in ("__init__", "build") if len(owners) == 2 else init or name in ("__init__", "build")
            elif isinstance(node, ast.ImportFrom | ast.Import):
                self.imports.append(node)
                for alias in node.names:
                    if alias.name in DIFFERENTIATES:
                        self._aliases.add(alias.asname or alias.name)
            elif isinstance(node, ast.Attribute):
                self._name_used(node.attr, owners)
                if node.attr == "custom_gradient" and isinstance(node.value, ast.Name):
                    if node.value.id in ("tf", "tensorflow"):
                        self._alone.update(owners)
                if node.attr.endswith("_regularizer") and isinstance(node.ctx, ast.Load):
                    self.regularises_by_hand = True
                if node.attr == "trainable" and isinstance(node.ctx, ast.Load):
                    self.reads_trainable = True
                if _sets_for_training(node):
                    self._alone.update(owners)
                if not isinstance(node.ctx, ast.Load) and not init:
                    self.assigned_outside_init.add(node.attr)
                    self._assignments[node.attr] = self._assignments.get(node.attr, 0) + 1
            elif isinstance(node, ast.Name):
                self._name_used(node.id, owners)
                if isinstance(node.ctx, ast.Store) and len(owners) > 1:
                    self._assignments[node.id] = self._assignments.get(node.id, 0) + 1
                if isinstance(node.ctx, ast.Store) and len(owners) == 1:
                    self._module_assigned[node.id] = self._module_assigned.get(node.id, 0) + 1
            elif isinstance(node, ast.Call):
                self._called_here(node, owners, init)
            elif isinstance(node, ast.Expr) and _drops_result(node):
                self._alone.update(owners[1:])
            elif isinstance(node, ast.Subscript):
                self._subscripted(node, owners, init)
            elif isinstance(node, ast.For) and _rebinds_variables(node):
                self._alone.update(owners)
            elif isinstance(node, ast.Global):
                self.rebound_globals.update(node.names)
                self.global_statements.update(node.names)
            stack.extend((child, owners, init) for child in ast.iter_child_nodes(node))
        self.rebound_globals.update(name for name, count in self._module_assigned.items() if count > 1)

    def _called_here(self, node: ast.Call, owners: tuple[ast.AST, ...], init: bool) -> None:
        function = node.func
        last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if last in _MAKES_WEIGHTS:
            self._weight_named(node)
        elif isinstance(function, ast.Name) and any(each.arg == "name" for each in node.keywords):
            self._naming_calls.append(node)
        if any("regularizer" in (each.arg or "") for each in node.keywords):
            self.regularises = self.adds_losses = self.has_regularizers = True
        if _assigns_to_slice(node):
            self._alone.update(owners)
        if _asks_gradient(node):
            self.gradient_calls.append(node)
        if (
            isinstance(function, ast.Attribute)
            and function.attr in _MUTATORS
            and isinstance(function.value, ast.Attribute)
            and not init
        ):
            self.assigned_outside_init.add(function.value.attr)
        elif isinstance(function, ast.Name) and function.id == "setattr" and len(node.args) > 1:
            name_node = node.args[1]
            if isinstance(name_node, ast.Constant) and isinstance(name_node.value, str):
                self.assigned_outside_init.add(name_node.value)

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

    def _subscripted(self, node: ast.Subscript, owners: tuple[ast.AST, ...], init: bool) -> None:
        if isinstance(node.ctx, ast.Store) and len(owners) > 1:
            self._items_assigned.setdefault(owners[-1], []).append(node)
        if not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Attribute) and not init:
            self.assigned_outside_init.add(node.value.attr)

    def _add_item_assigners(self) -> None:
        """Functions that assign to an item of what they made themselves, and what could be a tensor."""
        for function, stores in self._items_assigned.items():
            of_optimizer = getattr(function, "name", "") == "update_step"
            if of_optimizer or any(isinstance(_base_of(node), ast.Attribute | ast.Call) for node in stores):
                self._alone.add(function)
                continue
            if any(_is_tensor_like(node) for node in stores):
                self._alone.add(function)
                continue
            written = {base.id for node in stores if isinstance(base := _base_of(node), ast.Name)}
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and _may_make_tensor(node.value):
                    if any(isinstance(left, ast.Name) and left.id in written for left in node.targets):
                        self._alone.add(function)
                        break

    def _name_used(self, name: str, owners: tuple[ast.AST, ...]) -> None:
        self.regularises = self.regularises or name in ("add_loss", "losses", "regularizers")
        self.has_regularizers = self.has_regularizers or name == "regularizers"
        self.adds_losses = self.adds_losses or name in ("add_loss", "regularizers")
        self.watches = self.watches or name == "watch"
        self.scales_loss = self.scales_loss or name in _SCALES_LOSS
        self.sets_weights = self.sets_weights or name in ("set_weights", "load_weights")
        self.reads_watched = self.reads_watched or name == "watched_variables"
        for owner in owners:
            self._called.setdefault(owner, set()).add(name)
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

    def names_read(self, node: ast.AST) -> tuple[str, ...]:
        """The names used in a function, nested ones included, in a stable order."""
        found = self._reads.get(node)
        if found is None:
            names = {each.id: None for each in ast.walk(node) if isinstance(each, ast.Name)}
            found = self._reads[node] = tuple(names)
        return found
