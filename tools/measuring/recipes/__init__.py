"""Argument recipes for the functions that the ladder of `recipe.py` does not reach, one module per group."""

from __future__ import annotations

from functools import cache

from measuring.recipe import Recipe


@cache
def special_recipes() -> dict[str, list[Recipe]]:
    """Recipes by any name of a function."""
    from measuring.recipes import core, image, keras_losses, keras_ops, linear, nn, sparse, tf_numpy

    found: dict[str, list[Recipe]] = {}
    for module in (core, nn, linear, image, sparse, keras_ops, keras_losses, tf_numpy):
        found.update(module.RECIPES)
    return found
