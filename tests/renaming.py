"""Other names for what a program names itself: variables, parameters, functions, classes, attributes of `self`.

Names that a library reads are kept: what Keras calls (`call`, `build`), keywords of its functions, attributes that are
read of anything else than `self`. The edits stay on their lines.
"""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import tokenize
import zlib

#: Methods and attributes that Keras, TensorFlow or Python look up by name.
LOOKED_UP = frozenset(
    """
    call build train_step test_step predict_step compute_loss compute_metrics get_config from_config update_state result
    reset_state reset_states compute_output_shape compute_mask trainable built dtype name stateful supports_masking
    on_epoch_begin on_epoch_end on_batch_begin on_batch_end on_train_begin on_train_end on_train_batch_begin
    on_train_batch_end update_step get_gradients apply_gradients learning_rate training mask sample_weight self cls
    model losses metrics variables weights trainable_variables trainable_weights non_trainable_variables layers
    optimizer loss compiled_loss inputs outputs input output state_size output_size cell states main tf keras np
    """.split()
)


def renamed(text: str) -> str:
    """The program with `n1_`, `n2_` ... for its own names, and a sum of the text: no other file has these."""
    tree = ast.parse(text)
    own = _own_names(tree)
    mark = zlib.crc32(text.encode())
    names = {name: f"n{number}_{mark}" for number, name in enumerate(sorted(own), start=1)}
    rows = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type == tokenize.NAME and token.string in names:
            row, column = token.start[0] - 1, token.start[1]
            rows[row] = rows[row][:column] + names[token.string] + rows[row][column + len(token.string) :]
    made = "".join(rows)
    ast.parse(made)
    return made


def _own_names(tree: ast.Module) -> set[str]:
    own: set[str] = set()
    kept = set(LOOKED_UP) | set(dir(builtins)) | set(keyword.kwlist)
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                own.add(name)
            case ast.FunctionDef(name="compute_loss" | "compute_metrics", args=arguments):
                kept |= {each.arg for each in arguments.args}  # Keras gives them by name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                own.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                own.add(name)
            case ast.Attribute(value=base, attr=name) if not (isinstance(base, ast.Name) and base.id == "self"):
                kept.add(name)
            case ast.keyword(arg=str(name)):
                kept.add(name)
            case ast.alias(name=name, asname=other):
                kept |= {other or name.split(".")[0]}
            case ast.Constant(value=str(name)) if name.isidentifier():
                kept.add(name)  # read by `getattr`, or a key
            case ast.JoinedStr():
                kept |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return {name for name in own - kept if not name.startswith("__") and name != "_"}
