"""keras.ops.* without the images."""

from __future__ import annotations

import numpy as np

from measuring.inputs import Floats, positive_definite, square
from measuring.recipe import Recipe
from measuring.recipes.short import MATRIX, VECTOR, as_int, fixed, floats, labels, recipe

MATRIX3 = square()
DEFINITE = positive_definite()
LOWER = Floats((3, 3), turn=lambda drawn: np.tril(drawn + 3 * np.eye(3)))
IMAGE = floats(1, 6, 6, 2)
KERNEL = floats(2, 2, 2, 2)
PAIR = (floats(4, 4), floats(4, 4))
LINE = (VECTOR, VECTOR)
COMPLEX = floats(4, dtype="complex64")
CAST = "float cast to indices"
IDS = labels(0, 0, 1, 2)
UNIT = floats(4, domain="unit")
CLASSES = floats(3, 4, domain="unit")
INTEGERS = as_int([1.0, 2.0, 3.0, 4.0])

#: Functions of one matrix that can be inverted.
RECIPES: dict[str, list[Recipe]] = {
    f"keras.ops.{name}": [recipe(x=MATRIX3)] for name in ("inv", "det", "lu_factor", "eig", "slogdet", "qr", "svd")
}
RECIPES |= {f"keras.ops.{name}": [recipe(x=DEFINITE)] for name in ("cholesky", "cholesky_inverse", "eigh", "logdet")}
RECIPES |= {
    f"keras.ops.{name}": [recipe(x=MATRIX3)]
    for name in ("tril", "triu", "trace", "diagonal", "matrix_rank", "corrcoef", "fliplr", "vander")
}
RECIPES["keras.activations.sparsemax"] = [recipe(x=Floats((3, 4), turn=lambda drawn: 0.3 * drawn))]
RECIPES["keras.ops.vander"] = [recipe(x=VECTOR)]
RECIPES["keras.ops.corrcoef"] = [recipe(x=MATRIX)]
RECIPES |= {
    f"keras.ops.{name}": [
        recipe(x=VECTOR, variant="float"),
        recipe(x=COMPLEX, variant="complex"),
        recipe(x=VECTOR),
    ]
    for name in ("abs", "angle", "conj", "imag", "real")
}
RECIPES |= {
    f"keras.ops.{name}": [Recipe(dict.fromkeys(arguments, VECTOR), also="")]
    for name, arguments in {
        "logical_and": ("x1", "x2"),
        "logical_or": ("x1", "x2"),
        "logical_xor": ("x1", "x2"),
        "logical_not": ("x",),
        "all": ("x",),
        "any": ("x",),
    }.items()
}
RECIPES |= {
    f"keras.ops.segment_{name}": [recipe(data=VECTOR, segment_ids=IDS, num_segments=3)]
    for name in ("max", "min", "prod", "sum")
}
RECIPES |= {
    f"keras.ops.{name}": [recipe(x=VECTOR, q=fixed(q))]
    for name, q in (("quantile", 0.35), ("nanquantile", 0.35), ("percentile", 35.0), ("nanpercentile", 35.0))
}
RECIPES |= {f"keras.ops.{name}": [recipe(x1=INTEGERS, x2=INTEGERS)] for name in ("gcd", "lcm")}
RECIPES |= {
    f"keras.ops.{name}": [recipe(x=INTEGERS, y=INTEGERS)]
    for name in (
        "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift left_shift right_shift".split()
    )
}
RECIPES |= {f"keras.ops.{name}": [recipe(x=INTEGERS)] for name in ("bitwise_invert", "bitwise_not")}
RECIPES |= {f"keras.ops.{name}": [recipe(x=fixed(6.3))] for name in ("bartlett", "blackman", "hamming", "hanning")}
RECIPES |= {
    "keras.ops.adaptive_average_pool": [recipe(inputs=IMAGE, output_size=(3, 4))],
    "keras.ops.adaptive_max_pool": [recipe(inputs=IMAGE, output_size=(3, 4))],
    "keras.ops.append": [recipe(x1=VECTOR, x2=VECTOR)],
    "keras.ops.arange": [recipe(start=fixed(0.3), stop=fixed(2.5), step=fixed(0.7))],
    "keras.ops.argpartition": [recipe(x=VECTOR, kth=2)],
    "keras.ops.argmax": [recipe(x=VECTOR)],
    "keras.ops.array_split": [recipe(x=VECTOR, indices_or_sections=2)],
    "keras.ops.associative_scan": [recipe(call_with=lambda f, arg0: f(lambda a, b: a + b, arg0), arg0=VECTOR)],
    "keras.ops.average": [recipe(x=VECTOR, weights=UNIT)],
    "keras.ops.average_pool": [recipe(inputs=IMAGE, pool_size=2)],
    "keras.ops.max_pool": [recipe(inputs=IMAGE, pool_size=2)],
    "keras.ops.batch_normalization": [
        recipe(x=MATRIX, mean=VECTOR, variance=floats(4, domain="unit"), axis=-1, offset=VECTOR, scale=VECTOR)
    ],
    "keras.ops.binary_crossentropy": [
        recipe(target=UNIT, output=UNIT),
        recipe(target=UNIT, output=VECTOR, from_logits=True, variant="from_logits"),
    ],
    "keras.ops.bincount": [recipe(x=[0, 1, 1, 2], weights=VECTOR)],
    "keras.ops.broadcast_to": [recipe(x=VECTOR, shape=(2, 4))],
    "keras.ops.cast": [
        recipe(x=VECTOR, dtype=dtype, variant=f"to {dtype}")
        for dtype in ("float16", "float64", "bfloat16", "int32", "int64", "uint8", "bool")
    ],
    "keras.ops.saturate_cast": [
        recipe(x=VECTOR, dtype=dtype, variant=f"to {dtype}") for dtype in ("float16", "uint8", "int32")
    ],
    "keras.ops.categorical_crossentropy": [
        recipe(target=CLASSES, output=CLASSES),
        recipe(target=CLASSES, output=MATRIX, from_logits=True, variant="from_logits"),
    ],
    "keras.ops.sparse_categorical_crossentropy": [
        recipe(target=labels(0, 1, 3), output=CLASSES),
        recipe(target=labels(0, 1, 3), output=MATRIX, from_logits=True, variant="from_logits"),
    ],
    "keras.ops.clip": [
        recipe(x=VECTOR, x_min=-1.0, x_max=1.0, variant="numbers"),
        recipe(x=VECTOR, x_min=fixed(-1.0), x_max=fixed(3.0), variant="tensors"),
    ],
    "keras.ops.concatenate": [recipe(xs=[VECTOR, VECTOR])],
    "keras.ops.cond": [
        recipe(
            variant="0: predicate and taken branch; 1: branch not taken",
            call_with=lambda f, arg0, arg1: f(arg0[0] > -100.0, lambda: arg0 * 2.0, lambda: arg1 * 3.0),
            arg0=VECTOR,
            arg1=VECTOR,
        )
    ],
    "keras.ops.switch": [recipe(call_with=lambda f, arg0: f(1, [lambda x: x, lambda x: x * 2.0], arg0), arg0=VECTOR)],
    "keras.ops.conv": [recipe(inputs=IMAGE, kernel=KERNEL)],
    "keras.ops.conv_transpose": [recipe(inputs=IMAGE, kernel=KERNEL)],
    "keras.ops.depthwise_conv": [recipe(inputs=IMAGE, kernel=floats(2, 2, 2, 1))],
    "keras.ops.separable_conv": [
        recipe(inputs=IMAGE, depthwise_kernel=floats(2, 2, 2, 1), pointwise_kernel=floats(1, 1, 2, 3))
    ],
    "keras.ops.correlate": [recipe(x1=floats(6), x2=floats(3))],
    "keras.ops.cross": [recipe(x1=floats(3), x2=floats(3))],
    "keras.ops.ctc_decode": [recipe(inputs=floats(2, 5, 4), sequence_lengths=[5, 5])],
    "keras.ops.ctc_loss": [
        recipe(target=[[1, 2], [2, 3]], output=floats(2, 5, 4), target_length=[2, 2], output_length=[5, 5])
    ],
    "keras.ops.custom_gradient": [
        recipe(call_with=lambda f, arg0: f(lambda x: (x * 2.0, lambda upstream: upstream))(arg0), arg0=VECTOR)
    ],
    "keras.ops.depth_to_space": [recipe(x=floats(1, 2, 2, 4), block_size=2)],
    "keras.ops.space_to_depth": [recipe(x=floats(1, 4, 4, 1), block_size=2)],
    "keras.ops.digitize": [recipe(x=VECTOR, bins=fixed([0.0, 1.0, 2.0]))],
    "keras.ops.dot_product_attention": [
        recipe(query=floats(1, 3, 2, 4), key=floats(1, 3, 2, 4), value=floats(1, 3, 2, 4)),
        recipe(
            query=floats(1, 3, 2, 4),
            key=floats(1, 3, 2, 4),
            value=floats(1, 3, 2, 4),
            bias=floats(1, 2, 3, 3),
            variant="bias",
        ),
    ],
    "keras.ops.dsplit": [recipe(x=floats(2, 2, 4), indices_or_sections=2)],
    "keras.ops.hsplit": [recipe(x=floats(2, 4), indices_or_sections=2)],
    "keras.ops.vsplit": [recipe(x=floats(4, 2), indices_or_sections=2)],
    "keras.ops.split": [recipe(x=VECTOR, indices_or_sections=2)],
    "keras.ops.dtype": [recipe(x=VECTOR)],
    "keras.ops.einsum": [recipe(subscripts="ij,jk->ik", operands=[floats(2, 3), floats(3, 2)])],
    "keras.ops.expand_dims": [recipe(x=VECTOR, axis=0)],
    "keras.ops.extract_sequences": [recipe(x=floats(8), sequence_length=4, sequence_stride=2)],
    "keras.ops.fft": [recipe(x=LINE)],
    "keras.ops.fft2": [recipe(x=PAIR)],
    "keras.ops.ifft2": [recipe(x=PAIR)],
    "keras.ops.rfft": [recipe(x=VECTOR)],
    "keras.ops.irfft": [recipe(x=(floats(3), floats(3)))],
    "keras.ops.stft": [recipe(x=floats(16), sequence_length=8, sequence_stride=4, fft_length=8)],
    "keras.ops.istft": [recipe(x=(floats(5, 5), floats(5, 5)), sequence_length=8, sequence_stride=4, fft_length=8)],
    "keras.ops.fold": [recipe(x=floats(1, 4, 4), output_size=(4, 4), kernel_size=2, stride=2)],
    "keras.ops.unfold": [recipe(x=floats(1, 1, 4, 4), kernel_size=2, stride=2)],
    "keras.ops.fori_loop": [recipe(call_with=lambda f, arg0: f(0, 3, lambda i, x: x * 1.5, arg0), arg0=VECTOR)],
    "keras.ops.full": [recipe(shape=(4,), fill_value=fixed(0.7))],
    "keras.ops.full_like": [recipe(x=VECTOR, fill_value=fixed(0.7))],
    "keras.ops.geomspace": [recipe(start=fixed(0.3), stop=fixed(2.5), num=4)],
    "keras.ops.linspace": [recipe(start=fixed(0.3), stop=fixed(2.5), num=4)],
    "keras.ops.logspace": [recipe(start=fixed(0.3), stop=fixed(2.5), num=4)],
    "keras.ops.get_item": [recipe(x=VECTOR, key=slice(1, 3))],
    "keras.ops.glu": [recipe(x=VECTOR)],
    "keras.ops.histogram": [recipe(x=VECTOR, bins=4)],
    "keras.ops.in_top_k": [recipe(targets=[0, 1, 2], predictions=MATRIX, k=2)],
    "keras.ops.jvp": [
        recipe(call_with=lambda f, arg0, arg1: f(lambda x: x * x, (arg0,), (arg1,)), arg0=VECTOR, arg1=VECTOR)
    ],
    "keras.ops.kaiser": [recipe(x=fixed(6.3), beta=fixed(5.0))],
    "keras.ops.layer_normalization": [recipe(x=MATRIX, gamma=VECTOR, beta=VECTOR)],
    "keras.ops.rms_normalization": [recipe(x=MATRIX, scale=VECTOR)],
    "keras.ops.ldexp": [recipe(x1=VECTOR, x2=[1, 2, 0, 1])],
    "keras.ops.lstsq": [recipe(a=floats(4, 3), b=floats(4, 2))],
    "keras.ops.map": [recipe(call_with=lambda f, arg0: f(lambda x: x * x, arg0), arg0=VECTOR)],
    "keras.ops.vectorized_map": [recipe(call_with=lambda f, arg0: f(lambda x: x * x, arg0), arg0=VECTOR)],
    "keras.ops.vectorize": [recipe(call_with=lambda f, arg0: f(lambda x: x * x)(arg0), arg0=VECTOR)],
    "keras.ops.matmul": [recipe(x1=floats(2, 3), x2=floats(3, 2))],
    "keras.ops.meshgrid": [recipe(x=[VECTOR, VECTOR])],
    "keras.ops.moments": [recipe(x=MATRIX, axes=[0])],
    "keras.ops.moveaxis": [recipe(x=MATRIX, source=0, destination=1)],
    "keras.ops.swapaxes": [recipe(x=MATRIX, axis1=0, axis2=1)],
    "keras.ops.multi_hot": [
        recipe(inputs=as_int([0.0, 2.0]), num_classes=3, also=""),
    ],
    "keras.ops.one_hot": [recipe(x=as_int([0.0, 2.0]), num_classes=3, also="")],
    "keras.ops.normalize": [recipe(x=MATRIX)],
    "keras.ops.outer": [recipe(x1=VECTOR, x2=VECTOR)],
    "keras.ops.pad": [
        recipe(x=VECTOR, pad_width=((1, 1),)),
        recipe(x=VECTOR, pad_width=((1, 1),), constant_values=fixed(0.5)),
    ],
    "keras.ops.pinv": [recipe(x=floats(4, 3))],
    "keras.ops.power": [recipe(x1=UNIT, x2=VECTOR)],
    "keras.ops.psnr": [recipe(x1=VECTOR, x2=VECTOR, max_val=1.0)],
    "keras.ops.rearrange": [recipe(tensor=floats(2, 3, 4), pattern="b h w -> b (w h)")],
    "keras.ops.repeat": [recipe(x=VECTOR, repeats=2)],
    "keras.ops.reshape": [recipe(x=VECTOR, newshape=(2, 2))],
    "keras.ops.rot90": [recipe(array=MATRIX)],
    "keras.ops.scan": [
        recipe(
            call_with=lambda f, arg0, arg1: f(lambda carry, x: (carry + x, carry * x), arg0, arg1),
            arg0=fixed(0.5),
            arg1=VECTOR,
        )
    ],
    "keras.ops.scatter": [recipe(indices=[[0], [2]], values=floats(2), shape=(4,))],
    "keras.ops.scatter_update": [
        recipe(inputs=VECTOR, indices=[[0], [2]], updates=floats(2)),
        *(
            recipe(
                inputs=VECTOR,
                indices=[[0], [2]],
                updates=floats(2),
                reduction=reduction,
                variant=f"reduction={reduction}",
            )
            for reduction in ("add", "max", "min", "mul")
        ),
    ],
    "keras.ops.searchsorted": [recipe(sorted_sequence=fixed([-1.0, 0.0, 1.0, 2.0]), values=VECTOR)],
    "keras.ops.select": [
        recipe(
            condlist=[np.array([True, False, False, True]), np.array([False, True, False, False])],
            choicelist=[VECTOR, VECTOR],
            default=fixed(0.7),
        )
    ],
    "keras.ops.slice": [recipe(inputs=VECTOR, start_indices=[1], shape=[2])],
    "keras.ops.slice_update": [recipe(inputs=VECTOR, start_indices=[1], updates=floats(2))],
    "keras.ops.solve": [recipe(a=MATRIX3, b=floats(3, 2))],
    "keras.ops.solve_triangular": [recipe(a=LOWER, b=floats(3, 2), lower=True)],
    "keras.ops.sparsemax": [recipe(x=Floats((3, 4), turn=lambda drawn: 0.3 * drawn))],
    "keras.ops.squeeze": [recipe(x=floats(1, 4))],
    "keras.ops.stack": [recipe(x=[VECTOR, VECTOR])],
    "keras.ops.hstack": [recipe(xs=[VECTOR, VECTOR])],
    "keras.ops.vstack": [recipe(xs=[VECTOR, VECTOR])],
    "keras.ops.dstack": [recipe(xs=[VECTOR, VECTOR])],
    "keras.ops.take": [
        recipe(x=VECTOR, indices=[0, 2]),
        recipe(x=VECTOR, indices=as_int([0.0, 2.0]), variant=CAST, also=CAST),
    ],
    "keras.ops.take_along_axis": [recipe(x=VECTOR, indices=[0, 2], axis=0)],
    "keras.ops.tensordot": [recipe(x1=floats(2, 3), x2=floats(3, 2), axes=1)],
    "keras.ops.threshold": [recipe(x=VECTOR, threshold=0.5, default_value=0.0)],
    "keras.ops.tile": [recipe(x=VECTOR, repeats=2)],
    "keras.ops.top_k": [recipe(x=VECTOR, k=2)],
    "keras.ops.transpose": [recipe(x=MATRIX)],
    "keras.ops.trapezoid": [recipe(y=VECTOR, x=VECTOR)],
    "keras.ops.unstack": [recipe(x=VECTOR)],
    "keras.ops.unravel_index": [recipe(indices=as_int([1.0, 5.0]), shape=(2, 4), variant=CAST, also=CAST)],
    "keras.ops.view": [recipe(x=VECTOR, dtype="int32")],
    "keras.ops.view_as_complex": [recipe(x=floats(4, 2))],
    "keras.ops.view_as_real": [recipe(x=COMPLEX)],
    "keras.ops.where": [
        recipe(condition=np.array([True, False, True, False]), x1=VECTOR, x2=VECTOR, variant="condition constant"),
        recipe(condition=np.array([True, False, True, False]), x1=VECTOR, x2=VECTOR),
        recipe(call_with=lambda f, arg0: f(arg0 > 0.5, 1.0, 0.0), arg0=VECTOR, variant="condition from x"),
        recipe(call_with=lambda f, condition: f(condition > 0.5, 1.0, 0.0), condition=VECTOR),
    ],
    "keras.ops.while_loop": [
        recipe(
            call_with=lambda f, arg0: f(lambda i, x: i < 3, lambda i, x: (i + 1, x * 1.5), (0, arg0))[1], arg0=VECTOR
        )
    ],
    "keras.ops.convert_to_numpy": [recipe(x=VECTOR)],
    "keras.ops.isin": [recipe(x1=VECTOR, x2=VECTOR)],
    "keras.ops.cdist": [recipe(x=floats(3, 2), y=floats(4, 2))],
    "keras.ops.identity": [recipe(n=3)],
    "keras.ops.eye": [recipe(N=3)],
    "keras.ops.tri": [recipe(N=3)],
}
RECIPES |= {f"keras.ops.{name}": [recipe(shape=(2, 2))] for name in ("ones", "zeros", "empty")}
