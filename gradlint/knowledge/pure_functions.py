"""Pure functions that people call to change what they are given, and that return something new instead.

Which functions are pure was measured (`measured_ops.json`); which of them a statement is never meant to call for
nothing is judgement: products and sums, for instance, are called in benchmarks for the time that they take.
"""

from __future__ import annotations

CHANGING = frozenset(
    "where clip_by_value clip_by_norm clip_by_global_norm clip_by_average_norm clip stop_gradient shuffle set_diag "
    "l2_normalize normalize scatter_update slice_update where_v2 tensor_scatter_nd_update tensor_scatter_nd_add "
    "tensor_scatter_nd_sub tensor_scatter_nd_max tensor_scatter_nd_min band_part".split()
)
#: Of something that is read again, a change is meant; otherwise they may be called for the time that they take.
SHAPING = frozenset(
    "cast reshape transpose squeeze expand_dims concat concatenate stack pad tile boolean_mask one_hot roll reverse "
    "relu sigmoid tanh softmax dropout".split()
)
#: Of a gradient or a variable a change is meant.
ARITHMETIC = frozenset("multiply add subtract divide minimum maximum negative square".split())
