"""tf.* and tf.math.*"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from measuring.inputs import Floats, Sparse, square
from measuring.recipe import Recipe
from measuring.recipes.short import MATRIX, VECTOR, as_int, fixed, floats, positive, recipe

COMPLEX = floats(4, dtype="complex64")
CAST = "float cast to indices"
IDS = tf.constant([0, 0, 1, 2])

RECIPES: dict[str, list[Recipe]] = {
    name: [recipe(x=VECTOR, variant="float"), recipe(x=COMPLEX, variant="complex"), recipe(x=VECTOR)]
    for name in ("tf.abs", "tf.math.conj")
}
RECIPES |= {
    name: [recipe(input=VECTOR, variant="float"), recipe(input=COMPLEX, variant="complex"), recipe(input=VECTOR)]
    for name in ("tf.math.real", "tf.math.imag", "tf.math.angle")
}
RECIPES |= {
    f"tf.math.{name}": [Recipe({argument: positive() for argument in arguments}, also="")]
    for name, arguments in {
        "logical_and": ("x", "y"),
        "logical_or": ("x", "y"),
        "logical_xor": ("x", "y"),
        "logical_not": ("x",),
        "reduce_all": ("input_tensor",),
        "reduce_any": ("input_tensor",),
    }.items()
}
RECIPES |= {
    f"tf.tensor_scatter_nd_{name}": [recipe(tensor=VECTOR, indices=[[0], [2]], updates=fixed([1.0, 3.0]))]
    for name in ("add", "sub", "max", "min", "update")
}
RECIPES |= {
    f"tf.math.unsorted_segment_{name}": [recipe(data=VECTOR, segment_ids=IDS, num_segments=3)]
    for name in ("max", "mean", "min", "prod", "sqrt_n", "sum")
}
RECIPES |= {
    f"tf.math.segment_{name}": [recipe(data=VECTOR, segment_ids=IDS)] for name in ("max", "mean", "min", "prod", "sum")
}


def _branches(function: Any, index: Any, first: Any, second: Any) -> Any:
    return function(index, [lambda: first * 2.0, lambda: second * 3.0])


RECIPES |= {
    "tf.add_n": [recipe(inputs=[VECTOR, VECTOR])],
    "tf.as_string": [recipe(input=VECTOR)],
    "tf.batch_to_space": [recipe(input=floats(4, 2, 2, 1), block_shape=[2, 2], crops=[[0, 0], [0, 0]])],
    "tf.bitcast": [recipe(input=VECTOR, type=tf.int32)],
    "tf.boolean_mask": [recipe(tensor=VECTOR, mask=[True, False, True, True])],
    "tf.broadcast_to": [recipe(input=VECTOR, shape=[2, 4])],
    "tf.case": [
        recipe(
            variant="0: predicate and branch not taken; 1: taken branch",
            call_with=lambda f, arg0, arg1: f([(tf.reduce_sum(arg0) > 100.0, lambda: arg0 * 2.0)], lambda: arg1 * 3.0),
            arg0=VECTOR,
            arg1=VECTOR,
        )
    ],
    "tf.cast": [
        recipe(x=VECTOR, dtype=dtype, variant=f"to {dtype}")
        for dtype in ("float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool", "complex64")
    ]
    + [recipe(x=COMPLEX, dtype="float32", variant="complex to float")],
    "tf.clip_by_global_norm": [recipe(t_list=[VECTOR, VECTOR], clip_norm=1.0)],
    "tf.clip_by_norm": [recipe(t=VECTOR, clip_norm=1.0)],
    "tf.clip_by_value": [
        recipe(
            t=VECTOR,
            clip_value_min=fixed([-1.0] * 4),
            clip_value_max=fixed([0.4, 0.5, 2.6, 0.8]),
            variant="tensor bounds",
        ),
        recipe(t=VECTOR, clip_value_min=-1.0, clip_value_max=1.0, variant="number bounds"),
        recipe(t=VECTOR, clip_value_min=10.0, clip_value_max=11.0, variant="all outside"),
    ],
    "tf.complex": [recipe(real=VECTOR, imag=VECTOR)],
    "tf.concat": [recipe(values=[VECTOR, VECTOR], axis=0)],
    "tf.cond": [
        recipe(
            variant="0: predicate and taken branch; 1: branch not taken",
            call_with=lambda f, arg0, arg1: f(tf.reduce_sum(arg0) > -100.0, lambda: arg0 * 2.0, lambda: arg1 * 3.0),
            arg0=VECTOR,
            arg1=VECTOR,
        )
    ],
    "tf.constant": [recipe(value=VECTOR)],
    "tf.conv": [recipe(input=floats(1, 4, 4, 2), filter=floats(2, 2, 2, 2), strides=[1, 1, 1, 1], padding="VALID")],
    "tf.custom_gradient": [
        recipe(
            call_with=lambda f, arg0: f(lambda x: (tf.round(x), lambda upstream: upstream))(arg0),
            arg0=VECTOR,
        )
    ],
    "tf.conv2d_backprop_filter_v2": [
        recipe(
            input=floats(1, 4, 4, 2),
            filter=floats(2, 2, 2, 2),
            out_backprop=floats(1, 3, 3, 2),
            strides=[1, 1, 1, 1],
            padding="VALID",
        )
    ],
    "tf.conv2d_backprop_input_v2": [
        recipe(
            input=floats(1, 4, 4, 2),
            filter=floats(2, 2, 2, 2),
            out_backprop=floats(1, 3, 3, 2),
            strides=[1, 1, 1, 1],
            padding="VALID",
        )
    ],
    "tf.dynamic_partition": [recipe(data=VECTOR, partitions=[0, 1, 0, 1], num_partitions=2)],
    "tf.dynamic_stitch": [recipe(indices=[[0, 2], [1, 3]], data=[Floats((2,)), Floats((2,))])],
    "tf.edit_distance": [recipe(hypothesis=Sparse(shape=(3, 4)), truth=Sparse(shape=(3, 4)))],
    "tf.einsum": [
        recipe(equation="ij,jk->ik", inputs=[floats(2, 3), floats(3, 2)]),
    ],
    "tf.ensure_shape": [recipe(x=VECTOR, shape=[4])],
    "tf.expand_dims": [recipe(input=VECTOR, axis=0)],
    "tf.extract_volume_patches": [
        recipe(input=floats(1, 4, 4, 4, 1), ksizes=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")
    ],
    "tf.fill": [recipe(dims=[3], value=fixed(0.7))],
    "tf.foldl": [recipe(call_with=lambda f, arg0: f(lambda a, x: a * x, arg0), arg0=VECTOR)],
    "tf.foldr": [recipe(call_with=lambda f, arg0: f(lambda a, x: a * x, arg0), arg0=VECTOR)],
    "tf.scan": [recipe(call_with=lambda f, arg0: f(lambda a, x: a * x, arg0), arg0=VECTOR)],
    "tf.gather": [
        recipe(params=VECTOR, indices=[0, 2]),
        recipe(params=VECTOR, indices=as_int([0.0, 2.0]), variant=CAST, also=CAST),
    ],
    "tf.gather_nd": [
        recipe(params=MATRIX, indices=[[0, 1], [2, 3]]),
        recipe(params=MATRIX, indices=as_int([[0.0, 1.0], [2.0, 3.0]]), variant=CAST, also=CAST),
    ],
    "tf.grad_pass_through": [recipe(call_with=lambda f, arg0: f(tf.round)(arg0), arg0=VECTOR)],
    "tf.group": [recipe(inputs=[VECTOR])],
    "tf.histogram_fixed_width": [recipe(values=VECTOR, value_range=fixed([-2.0, 3.0]), nbins=5)],
    "tf.histogram_fixed_width_bins": [recipe(values=VECTOR, value_range=fixed([-2.0, 3.0]), nbins=5)],
    "tf.identity_n": [recipe(input=[VECTOR, VECTOR])],
    "tf.linspace": [recipe(start=fixed(0.3), stop=fixed(2.5), num=4)],
    "tf.map_fn": [recipe(call_with=lambda f, arg0: f(lambda x: x * x, arg0), arg0=VECTOR)],
    "tf.vectorized_map": [recipe(call_with=lambda f, arg0: f(lambda x: x * x, arg0), arg0=VECTOR)],
    "tf.meshgrid": [recipe(args=[VECTOR, VECTOR])],
    "tf.numpy_function": [
        recipe(call_with=lambda f, arg0: f(lambda x: x * 2, [arg0], tf.float32), arg0=VECTOR),
    ],
    "tf.py_function": [
        recipe(call_with=lambda f, arg0: f(lambda x: x * 2.0, [arg0], tf.float32), arg0=VECTOR),
    ],
    "tf.nondifferentiable_batch_function": [
        recipe(call_with=lambda f, arg0: f(1, 3, 0)(lambda x: x * 2.0)(arg0), arg0=MATRIX),
    ],
    "tf.norm": [
        recipe(tensor=VECTOR),
        recipe(tensor=VECTOR, ord=1, variant="ord=1"),
        recipe(tensor=VECTOR, ord=float("inf"), variant="ord=inf"),
        recipe(tensor=MATRIX, ord="fro", axis=[0, 1], variant="ord=fro"),
    ],
    "tf.one_hot": [
        recipe(indices=[0, 2], depth=3, on_value=fixed(0.9), off_value=fixed(0.1), variant="on_value/off_value"),
        recipe(indices=as_int([0.0, 2.0]), depth=3, variant=CAST, also=CAST),
    ],
    "tf.pad": [
        recipe(tensor=VECTOR, paddings=[[1, 1]]),
        recipe(tensor=VECTOR, paddings=[[1, 1]], constant_values=fixed(0.5)),
    ],
    "tf.parallel_stack": [recipe(values=[VECTOR, VECTOR])],
    "tf.pow": [recipe(x=Floats(domain="unit"), y=VECTOR)],
    "tf.ragged_fill_empty_rows": [
        recipe(value_rowids=tf.constant([0, 0, 2, 2], tf.int64), values=VECTOR, nrows=4, default_value=fixed(0.5))
    ],
    "tf.ragged_fill_empty_rows_grad": [recipe(reverse_index_map=tf.constant([0, 1, 3], tf.int64), grad_values=VECTOR)],
    "tf.range": [recipe(start=fixed(0.3), limit=fixed(2.5), delta=fixed(0.7))],
    "tf.rank": [recipe(input=VECTOR)],
    "tf.recompute_grad": [recipe(call_with=lambda f, arg0: f(lambda x: x * x)(arg0), arg0=VECTOR)],
    "tf.repeat": [recipe(input=VECTOR, repeats=2)],
    "tf.reshape": [recipe(tensor=VECTOR, shape=[2, 2])],
    "tf.reverse": [recipe(tensor=VECTOR, axis=[0])],
    "tf.reverse_sequence": [recipe(input=MATRIX, seq_lengths=[1, 3, 4], seq_axis=1)],
    "tf.roll": [recipe(input=VECTOR, shift=1, axis=0)],
    "tf.saturate_cast": [
        recipe(value=VECTOR, dtype=getattr(tf, dtype), variant=f"to {dtype}")
        for dtype in ("float16", "uint8", "int32", "float64")
    ],
    "tf.scalar_mul": [recipe(scalar=fixed(0.7), x=VECTOR)],
    "tf.scatter_nd": [recipe(indices=[[0], [2]], updates=Floats((2,)), shape=[4])],
    "tf.searchsorted": [recipe(sorted_sequence=fixed([-1.0, 0.0, 1.0, 2.0]), values=VECTOR)],
    "tf.sequence_mask": [recipe(lengths=as_int([1.0, 3.0]), maxlen=4, variant=CAST, also="float cast to lengths")],
    "tf.shape_n": [recipe(input=[VECTOR, VECTOR])],
    "tf.slice": [recipe(input_=VECTOR, begin=[1], size=[2])],
    "tf.sort": [recipe(values=VECTOR)],
    "tf.space_to_batch": [recipe(input=floats(1, 4, 4, 1), block_shape=[2, 2], paddings=[[0, 0], [0, 0]])],
    "tf.space_to_batch_nd": [recipe(input=floats(1, 4, 4, 1), block_shape=[2, 2], paddings=[[0, 0], [0, 0]])],
    "tf.split": [recipe(value=VECTOR, num_or_size_splits=2)],
    "tf.squeeze": [recipe(input=floats(1, 4))],
    "tf.stack": [recipe(values=[VECTOR, VECTOR])],
    "tf.strided_slice": [recipe(input_=VECTOR, begin=[1], end=[3])],
    "tf.switch_case": [
        recipe(
            variant="0: branch not taken; 1: taken",
            call_with=lambda f, arg0, arg1: _branches(f, tf.constant(1), arg0, arg1),
            arg0=VECTOR,
            arg1=VECTOR,
        )
    ],
    "tf.tensordot": [recipe(a=floats(2, 3), b=floats(3, 2), axes=1)],
    "tf.matmul": [recipe(a=floats(2, 3), b=floats(3, 2))],
    "tf.tile": [recipe(input=VECTOR, multiples=[2])],
    "tf.transpose": [recipe(a=MATRIX)],
    "tf.tuple": [recipe(tensors=[VECTOR, VECTOR])],
    "tf.unique": [recipe(x=VECTOR)],
    "tf.unstack": [recipe(value=VECTOR)],
    "tf.where": [
        recipe(condition=[True, False, True, False], x=VECTOR, y=VECTOR, variant="condition constant"),
        recipe(condition=[True, False, True, False], x=VECTOR, y=VECTOR),
        recipe(call_with=lambda f, arg0: f(arg0 > 0.5, 1.0, 0.0), arg0=VECTOR, variant="condition from x"),
        recipe(call_with=lambda f, condition: f(condition > 0.5, 1.0, 0.0), condition=VECTOR),
    ],
    "tf.while_loop": [
        recipe(
            call_with=lambda f, arg0: f(lambda i, x: i < 3, lambda i, x: (i + 1, x * 1.5), (tf.constant(0), arg0))[1],
            arg0=VECTOR,
        )
    ],
    "tf.approx_top_k": [recipe(input=floats(8), k=3)],
    "tf.fftnd": [recipe(input=floats(4, 4, dtype="complex64"), fft_length=[4, 4], axes=[0, 1])],
    "tf.ifftnd": [recipe(input=floats(4, 4, dtype="complex64"), fft_length=[4, 4], axes=[0, 1])],
    "tf.rfftnd": [recipe(input=floats(4, 4), fft_length=[4, 4], axes=[0, 1])],
    "tf.irfftnd": [recipe(input=floats(4, 3, dtype="complex64"), fft_length=[4, 4], axes=[0, 1])],
    "tf.eig": [
        recipe(tensor=square(), variant="real"),
        recipe(tensor=Floats((3, 3), dtype="complex64", turn=square().turn), variant="complex"),
        recipe(tensor=square()),
    ],
    "tf.unravel_index": [recipe(indices=as_int([1.0, 5.0]), dims=[2, 4], variant=CAST, also=CAST)],
    "tf.math.accumulate_n": [recipe(inputs=[VECTOR, VECTOR])],
    "tf.math.betainc": [recipe(a=floats(4, domain="gt1"), b=floats(4, domain="gt1"), x=floats(4, domain="unit"))],
    "tf.math.bincount": [
        recipe(arr=[0, 1, 1, 2], weights=VECTOR, variant="weights"),
        recipe(arr=as_int([0.0, 1.0, 1.0, 2.0]), variant="float cast to values", also="float cast to values"),
    ],
    "tf.math.confusion_matrix": [
        recipe(labels=[0, 1, 2, 1], predictions=[0, 2, 2, 1], num_classes=3, weights=VECTOR),
        recipe(labels=as_int([0.0, 1.0, 2.0, 1.0]), predictions=as_int([0.0, 2.0, 2.0, 1.0]), variant=CAST, also=CAST),
    ],
    "tf.math.in_top_k": [recipe(targets=[0, 1, 2], predictions=floats(3, 4), k=2)],
    "tf.math.igamma": [recipe(a=floats(4, domain="gt1"), x=floats(4, domain="gt1"))],
    "tf.math.igammac": [recipe(a=floats(4, domain="gt1"), x=floats(4, domain="gt1"))],
    "tf.math.lbeta": [recipe(x=floats(4, domain="gt1"))],
    "tf.math.polygamma": [recipe(a=fixed([1.0, 2.0, 1.0, 2.0]), x=floats(4, domain="gt1"))],
    "tf.math.polyval": [recipe(coeffs=[VECTOR, VECTOR], x=VECTOR)],
    "tf.math.top_k": [recipe(input=VECTOR, k=2)],
    "tf.math.xdivy": [recipe(x=VECTOR, y=VECTOR)],
    "tf.math.xlog1py": [recipe(x=VECTOR, y=floats(4, domain="unit"))],
    "tf.math.xlogy": [recipe(x=VECTOR, y=floats(4, domain="unit"))],
    "tf.math.zeta": [recipe(x=floats(4, domain="gt1"), q=floats(4, domain="gt1"))],
    "tf.math.invert_permutation": [recipe(x=as_int([2.0, 0.0, 1.0]), variant=CAST, also=CAST)],
    "tf.assert_equal": [recipe(x=VECTOR, y=1.0 * np.array([0.3, -1.2, 2.5, 0.7], "float32"))],
    "tf.assert_greater": [recipe(x=VECTOR, y=-9.0)],
    "tf.assert_less": [recipe(x=VECTOR, y=9.0)],
    "tf.ones": [recipe(shape=[2])],
    "tf.zeros": [recipe(shape=[2])],
    "tf.eye": [recipe(num_rows=2)],
    "tf.Assert": [recipe(condition=positive(1), data=[VECTOR])],
}
