"""Resizing: an image that is optimised is made smaller by picking single pixels, and the others get no gradient."""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.model_events import NearestResized
from gradlint.flow.shapes import Shape, asked_shape
from gradlint.flow.values import Kind, Value
from gradlint.flow.wording import code_of
from gradlint.ops import table as ops
from gradlint.ops.op import Role


def note_nearest(it: Interpreter, images: Value, size: Value | None, made: Value, node: ast.AST) -> None:
    """`tf.image.resize(image, size, method="nearest")`."""
    source = images
    while (source.op is ops.ITEM or source.op.hands_on or source.op.role is Role.CLIP) and source.inputs:
        source = source.inputs[0]
    watched = source.kind is Kind.VARIABLE and source.ref is not None and source.ref.trainable is not False
    if it.expected or not watched or not made.possible:
        return
    if _grows(images.shape or source.shape, asked_shape(it, size)):
        return
    it.note(NearestResized, node, code_of(images), certain=False)


def _grows(before: Shape | None, after: Shape | None) -> bool:
    """Whether no pixel is lost, or nothing is known of the sizes."""
    if before is None or after is None or len(before) < 3 or len(after) != 2:
        return True
    height, width = before[-3:-1]
    if height is None or width is None or after[0] is None or after[1] is None:
        return True
    return after[0] >= height and after[1] >= width
