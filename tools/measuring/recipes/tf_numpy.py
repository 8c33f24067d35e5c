"""tf.experimental.numpy.*"""

from __future__ import annotations

import numpy as np

from measuring.recipe import Recipe
from measuring.recipes.short import MATRIX, VECTOR, as_int, fixed, floats, recipe

INTEGERS = as_int([1.0, 2.0, 3.0, 4.0])

_RECIPES: dict[str, list[Recipe]] = {
    "arange": [recipe(start=fixed(0.3), stop=fixed(2.5), step=fixed(0.7))],
    "bitwise_not": [recipe(x=INTEGERS)],
    "broadcast_to": [recipe(array=VECTOR, shape=[2, 4])],
    "einsum": [recipe(subscripts="ij,jk->ik", operands=[floats(2, 3), floats(3, 2)])],
    "empty": [recipe(shape=[2])],
    "eye": [recipe(N=2)],
    "full": [recipe(shape=[2], fill_value=fixed(0.7))],
    "full_like": [recipe(a=VECTOR, fill_value=fixed(0.7))],
    "identity": [recipe(n=2)],
    "linspace": [recipe(start=fixed(0.3), stop=fixed(2.5), num=4)],
    "moveaxis": [recipe(a=MATRIX, source=0, destination=1)],
    "ones": [recipe(shape=[2])],
    "pad": [recipe(array=VECTOR, pad_width=[[1, 1]], mode="constant")],
    "reshape": [recipe(a=VECTOR, newshape=[2, 2])],
    "select": [
        recipe(
            condlist=[np.array([True, False, False, True]), np.array([False, True, False, False])],
            choicelist=[VECTOR, VECTOR],
            default=fixed(0.7),
        )
    ],
    "swapaxes": [recipe(a=MATRIX, axis1=0, axis2=1)],
    "take": [recipe(a=VECTOR, indices=[0, 2])],
    "take_along_axis": [recipe(arr=VECTOR, indices=[0, 2], axis=0)],
    "tile": [recipe(a=VECTOR, reps=2)],
    "tri": [recipe(N=2)],
    "where": [recipe(condition=np.array([True, False, True, False]), x=VECTOR, y=VECTOR)],
    "zeros": [recipe(shape=[2])],
}
_RECIPES |= {
    name: [recipe(x1=INTEGERS, x2=INTEGERS)] for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm")
}
RECIPES = {f"tf.experimental.numpy.{name}": recipes for name, recipes in _RECIPES.items()}
