"""Methods that change a variable, or a part of it."""

from __future__ import annotations

ASSIGNING = frozenset({"assign", "assign_add", "assign_sub"})
SCATTERING = frozenset(
    "scatter_nd_update scatter_nd_add scatter_nd_sub scatter_nd_max scatter_nd_min scatter_update scatter_add "
    "scatter_sub scatter_mul scatter_div scatter_max scatter_min batch_scatter_update".split()
)
