"""Switches: what a file switches on for the whole program, read off its tree.

`State.learn_from` adds those of every file that is run. Comments, docstrings and other strings switch nothing on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from gradlint.flow.bound_names import BoundNames, last_name

#: What each switch is turned on by, whether it is called, imported or given by keyword.
_BY_NAME = {
    "disable_eager_execution": "leaves_eager",
    "disable_v2_behavior": "leaves_eager",
    "tf_keras": "keras_2",
    "enable_numpy_behavior": "numpy_behaviour",
    "experimental_enable_numpy_behavior": "numpy_behaviour",
    "RegisterGradient": "registers_gradients",
    "gradient_override_map": "registers_gradients",
    "override_gradient_function": "registers_gradients",
    "_override_gradient_function": "registers_gradients",
    "run_eagerly": "runs_eagerly",
    "run_functions_eagerly": "sets_eager_functions",
    "experimental_run_functions_eagerly": "sets_eager_functions",
}
_LEGACY = "TF_USE_LEGACY_KERAS"
#: Calls that are given a variable of the environment and leave it as it is, for TensorFlow: it reads `os.environ`,
#: which `os.putenv` does not write to (TensorFlow 2.21).
_NO_SETTERS = frozenset({"get", "getenv", "pop", "delenv", "unsetenv", "putenv"})
_IMPORT = frozenset({"import_module", "__import__", "importorskip", "LazyLoader"})
_XLA = frozenset({"jit_compile", "experimental_compile"})


@dataclass(eq=False, slots=True)
class Switches:
    """What one file switches on."""

    leaves_eager: bool = False
    keras_2: bool = False
    numpy_behaviour: bool = False
    registers_gradients: bool = False
    runs_eagerly: bool = False
    sets_eager_functions: bool = False
    compiles_xla: bool = False
    _contexts: list[ast.expr] = field(default_factory=list)
    _sessions: list[ast.expr] = field(default_factory=list)
    _imported: dict[str, str] = field(default_factory=dict)

    def note(self, node: ast.AST) -> None:
        """See a node of the tree."""
        match node:
            case ast.Call():
                self._called(node)
            case ast.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant):
                        self._given(key.value, value)
            case ast.Assign():
                for target in node.targets:
                    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                        self._given(target.slice.value, node.value)
            case ast.Import():
                for alias in node.names:
                    first = alias.name.partition(".")[0]
                    self.named((first,))
                    self._imported[alias.asname or first] = first
            case ast.ImportFrom():
                first = "" if node.level else (node.module or "").partition(".")[0]
                self.named((first, *(alias.name for alias in node.names)))
                self._imported.update({alias.asname or alias.name: first for alias in node.names})

    def named(self, names: Iterable[str]) -> None:
        """See names that the file uses."""
        for name in names:
            if name in _BY_NAME:
                setattr(self, _BY_NAME[name], True)

    def conclude(self, names: Iterable[str], bound: BoundNames) -> None:
        """See the names of the whole file, and what is bound to them."""
        self.named(names)
        if any(not _is_writer(each, bound) for each in self._contexts) or any(map(self._is_session, self._sessions)):
            self.leaves_eager = True

    def _called(self, node: ast.Call) -> None:
        name = last_name(node.func)
        texts = [each.value if isinstance(each, ast.Constant) else None for each in node.args]
        if name in _IMPORT:
            self.named(text.partition(".")[0] for text in texts if isinstance(text, str))
        elif name == "as_default" and isinstance(node.func, ast.Attribute):
            self._contexts.append(node.func.value)
        elif name.endswith("Session"):
            self._sessions.append(node.func)
        for text, value in zip(texts, node.args[1:], strict=False):
            if name not in _NO_SETTERS:
                self._given(text, value)
        for each in node.keywords:
            self._given(each.arg, each.value)

    def _given(self, name: object, value: ast.expr) -> None:
        """See what a key, an argument or a variable of the environment is set to."""
        if name == _LEGACY:
            self.keras_2 |= not isinstance(value, ast.Constant) or value.value in ("1", "true", "True")
        elif name in _XLA:
            self.compiles_xla |= isinstance(value, ast.Constant) and value.value is True
        elif name == "run_eagerly":
            self.runs_eagerly = True

    def _is_session(self, node: ast.expr) -> bool:
        """Whether what is called may be of TensorFlow: `requests.Session` is not."""
        while isinstance(node, ast.Attribute):
            node = node.value
        module = self._imported.get(node.id, "") if isinstance(node, ast.Name) else ""
        return module in ("", "tensorflow", "tf", "keras", "tf_keras")


def _is_writer(node: ast.expr, bound: BoundNames) -> bool:
    """Whether a thing that is made the default is a writer of summaries, and no graph."""
    ways = [node] if isinstance(node, ast.Call) else bound.values.get(last_name(node), [])
    return bool(ways) and all(isinstance(way, ast.Call) and last_name(way).lower().endswith("writer") for way in ways)
