"""The code that `alternatives.py` advises, written by hand: one entry for all functions of a name, or for one symbol.

`{f}` stands for the function itself, `{ops}` for `tf` or `keras.ops`. Names such as `temperature` and `positions` are
for the reader to choose.
"""

from __future__ import annotations

#: Code for TensorFlow, words, and the code for Keras where another name of the function is not enough.
Entry = tuple[str, str] | tuple[str, str, str]

_SOFT_IMAGE = "differentiable arithmetic"
_RANDOM = "differentiable arithmetic with a random factor"
_MEAN = "tf.reduce_mean(image, axis=[-3, -2], keepdims=True)"
_GREY = "tf.image.rgb_to_grayscale(image)"
_CONTRAST = f"{_MEAN} + factor * (image - {_MEAN})"
_SATURATION = f"{_GREY} + factor * (image - {_GREY})"
_HUE = "tf.image.yiq_to_rgb(tf.matmul(tf.image.rgb_to_yiq(image), rotation))"
_STRAIGHT = ("x + {ops}.stop_gradient({f}(x) - x)", "straight-through: rounds forwards, lets gradients pass backwards")
_GREATER = ("{ops}.sigmoid((x - y) / temperature)", "a soft comparison")
_LESS = ("{ops}.sigmoid((y - x) / temperature)", "a soft comparison")
_CAST = (
    "x + tf.stop_gradient(tf.cast(tf.cast(x, tf.int32), x.dtype) - x)",
    "keep the floats, or straight-through where integers are needed",
    "x + keras.ops.stop_gradient(keras.ops.cast(keras.ops.cast(x, 'int32'), x.dtype) - x)",
)
_HISTOGRAM = (
    "tf.reduce_sum(tf.exp(-tf.square((x[:, None] - centers) / width)), axis=0)",
    "soft bins",
    "keras.ops.sum(keras.ops.exp(-keras.ops.square((x[:, None] - centers) / width)), axis=0)",
)
_SEARCH = (
    "tf.reduce_sum(tf.sigmoid((x[:, None] - edges) / temperature), axis=1)",
    "soft positions among the edges",
    "keras.ops.sum(keras.ops.sigmoid((x[:, None] - edges) / temperature), axis=1)",
)
_SEGMENTS = (
    "tf.math.unsorted_segment_sum(weights, ids, 3)",
    "sums of float weights per value",
    "keras.ops.segment_sum(weights, ids, num_segments=3)",
)
_SOFTMAX = ("tf.nn.softmax(logits / temperature)", "soft one-hot", "keras.ops.softmax(logits / temperature)")
_GUMBEL = (
    "tf.nn.softmax((logits - tf.math.log(-tf.math.log(tf.random.uniform(tf.shape(logits), 1e-6, 1.0)))) / temperature)",
    "Gumbel-softmax; or train on the log-probability of what was drawn",
    "keras.ops.softmax((logits - keras.ops.log(-keras.ops.log("
    "keras.random.uniform(keras.ops.shape(logits), 1e-6, 1.0)))) / temperature)",
)
_BINOMIAL = (
    "count * tf.math.log(p) + (trials - count) * tf.math.log(1.0 - p)",
    "train on the log-probability of the count that was drawn",
    "count * keras.ops.log(p) + (trials - count) * keras.ops.log(1.0 - p)",
)
_POISSON = ("count * tf.math.log(rate) - rate", "train on the log-probability of the count that was drawn")
_SPARSE_LOSS = ("keras.losses.sparse_categorical_crossentropy(labels, probabilities)", "the cross-entropy, as a loss")
_CATEGORICAL_LOSS = ("keras.losses.categorical_crossentropy(y_true, y_pred)", "the cross-entropy, as a loss")
_BINARY_LOSS = ("keras.losses.binary_crossentropy(y_true, y_pred)", "the cross-entropy, as a loss")
_OVERLAP_LOSS = ("keras.losses.dice(y_true, y_pred)", "overlap of soft masks, as a loss")
_COUNT_LOSS = ("keras.losses.tversky(y_true, y_pred)", "soft counts of what is right and wrong, as a loss")
_SUPPRESSION = (
    "tf.reduce_sum(tf.nn.softmax(scores / temperature)[:, None] * boxes, axis=0)",
    "boxes weighted by their scores, where a loss needs them",
)
_CTC = ("tf.nn.ctc_loss(sequences, frames, [2, 2], [5, 5], blank_index=0)", "train on the CTC loss, decode to read")
_QUANTIZE = ("tf.quantization.fake_quant_with_min_max_vars(x, -3.0, 3.0)", "quantized values kept as floats")
_JPEG = ("image + tf.stop_gradient(tf.image.adjust_jpeg_quality(image, 75) - image)", "straight-through")
_LINEAR = (
    "tf.linalg.solve(matrix, rhs)",
    "solve, slogdet, qr and cholesky let gradients pass",
    "keras.ops.solve(matrix, rhs)",
)
_COORDINATES = (
    "keras.ops.image.map_coordinates(plane, coordinates, order=1)",
    "coordinates computed from the transform let gradients reach it",
)
_SMOOTH_SIGN = ("{ops}.tanh(x / temperature)", "a smooth sign")
_LOSS_OF_METRIC = "the loss in place of the metric"

BY_NAME: dict[str, Entry] = {
    **dict.fromkeys(("round", "floor", "ceil", "rint", "trunc", "fix", "around"), _STRAIGHT),
    **dict.fromkeys(
        ("floordiv", "floor_divide", "truncatediv"),
        ("x / y + {ops}.stop_gradient({f}(x, y) - x / y)", "straight-through: divides exactly backwards"),
    ),
    "truncatemod": ("tf.math.floormod(x, y)", "lets gradients pass; differs for negative numbers"),
    "sign": _SMOOTH_SIGN,
    "heaviside": ("{ops}.sigmoid(x / temperature)", "a smooth step"),
    "signbit": ("{ops}.sigmoid(-x / temperature)", "a smooth step"),
    **dict.fromkeys(("greater", "greater_equal"), _GREATER),
    **dict.fromkeys(("less", "less_equal"), _LESS),
    **dict.fromkeys(
        ("equal", "isclose", "allclose", "array_equal"), ("{ops}.exp(-{ops}.square((x - y) / width))", "a soft match")
    ),
    "not_equal": ("1.0 - {ops}.exp(-{ops}.square((x - y) / width))", "a soft mismatch"),
    "logical_and": ("p * q", "of probabilities in place of truth values"),
    "logical_or": ("p + q - p * q", "of probabilities in place of truth values"),
    "logical_xor": ("p + q - 2.0 * p * q", "of probabilities in place of truth values"),
    "logical_not": ("1.0 - p", "of a probability in place of a truth value"),
    **dict.fromkeys(
        ("reduce_all", "all"), ("tf.reduce_prod(p)", "of probabilities in place of truth values", "keras.ops.prod(p)")
    ),
    **dict.fromkeys(
        ("reduce_any", "any"),
        ("1.0 - tf.reduce_prod(1.0 - p)", "of probabilities in place of truth values", "1.0 - keras.ops.prod(1.0 - p)"),
    ),
    **dict.fromkeys(
        ("argmax", "nanargmax"),
        (
            "tf.reduce_sum(tf.nn.softmax(x / temperature) * positions)",
            "soft argmax: positions weighted by a softmax",
            "keras.ops.sum(keras.ops.softmax(x / temperature) * positions)",
        ),
    ),
    **dict.fromkeys(
        ("argmin", "nanargmin"),
        (
            "tf.reduce_sum(tf.nn.softmax(-x / temperature) * positions)",
            "soft argmin: positions weighted by a softmax",
            "keras.ops.sum(keras.ops.softmax(-x / temperature) * positions)",
        ),
    ),
    **dict.fromkeys(
        ("argsort", "argpartition"),
        (
            "tf.reduce_sum(tf.sigmoid((x[:, None] - x) / temperature), axis=1)",
            "soft ranks; sorting the values themselves lets gradients pass",
            "keras.ops.sum(keras.ops.sigmoid((x[:, None] - x) / temperature), axis=1)",
        ),
    ),
    **dict.fromkeys(("searchsorted", "digitize"), _SEARCH),
    **dict.fromkeys(("one_hot", "multi_hot"), _SOFTMAX),
    **dict.fromkeys(("cast", "saturate_cast", "bitcast", "view"), _CAST),
    **dict.fromkeys(("histogram", "histogram_fixed_width", "histogram_fixed_width_bins"), _HISTOGRAM),
    "bincount": _SEGMENTS,
    **dict.fromkeys(
        ("count_nonzero", "zero_fraction", "nonzero"),
        (
            "tf.reduce_sum(1.0 - tf.exp(-tf.square(x / width)))",
            "a soft count",
            "keras.ops.sum(1.0 - keras.ops.exp(-keras.ops.square(x / width)))",
        ),
    ),
    "confusion_matrix": (
        "tf.matmul(tf.one_hot(labels, 4), probabilities, transpose_a=True)",
        "soft counts of predicted classes",
    ),
    "in_top_k": _SPARSE_LOSS,
    **dict.fromkeys(("categorical", "stateless_categorical"), _GUMBEL),
    **dict.fromkeys(("binomial", "stateless_binomial"), _BINOMIAL),
    **dict.fromkeys(("poisson", "stateless_poisson"), _POISSON),
    "shuffle": (
        "tf.gather(x, tf.random.shuffle(tf.range(tf.shape(x)[0])))",
        "shuffle the positions and gather",
    ),
    "stop_gradient": ("x", "leave it out where training should reach x"),
    "unique": ("tf.math.unsorted_segment_max(x, tf.unique(tf.stop_gradient(x)).idx, 4)", "one entry per value"),
    "unique_with_counts": (
        "tf.math.unsorted_segment_max(x, tf.unique(tf.stop_gradient(x)).idx, 4)",
        "one entry per value",
    ),
    **dict.fromkeys(("lu", "lu_factor"), _LINEAR),
    "matrix_rank": (
        "tf.reduce_sum(tf.square(s) / (tf.square(s) + width))",
        "a soft count of the singular values s",
        "keras.ops.sum(keras.ops.square(s) / (keras.ops.square(s) + width))",
    ),
    **dict.fromkeys(
        ("range", "arange"),
        (
            "start + step * tf.cast(tf.range(4), tf.float32)",
            "the arithmetic written out",
            "start + step * keras.ops.arange(4, dtype='float32')",
        ),
    ),
}

BY_SYMBOL: dict[str, Entry] = {
    "tf.conv": ("tf.nn.convolution(images, kernel)", "the same, with a gradient"),
    "tf.guarantee_const": ("tf.identity(x)", "lets gradients pass"),
    "tf.numpy_function": ("tf.py_function(tf.square, [x], tf.float32)", "with TensorFlow operations inside"),
    "keras.ops.convert_to_numpy": ("keras.ops.convert_to_tensor(x)", "stay with tensors up to the gradient"),
    "keras.ops.slice_update": (
        "keras.ops.scatter_update(inputs, [[1], [2]], updates)",
        "the same entries by their indices",
    ),
    "tf.clip_by_value": ("low + (high - low) * tf.sigmoid(x)", "a soft bound, where entries outside must still train"),
    "tf.linalg.logm": (
        "tf.matmul(vectors * tf.math.log(values), vectors, transpose_b=True)",
        "of a symmetric matrix, with `values, vectors = tf.linalg.eigh(matrix)`",
    ),
    "tf.signal.rfft3d": ("tf.signal.fft3d(tf.cast(cube, tf.complex64))", "the full transform has a gradient"),
    "tf.signal.irfft3d": ("tf.signal.ifft3d(tf.cast(cube, tf.complex64))", "the full transform has a gradient"),
    "tf.sparse.maximum": ("tf.maximum(tf.sparse.to_dense(sparse), dense)", "dense tensors"),
    "tf.sparse.minimum": ("tf.minimum(tf.sparse.to_dense(sparse), dense)", "dense tensors"),
    "tf.sparse.reduce_max": ("tf.reduce_max(tf.sparse.to_dense(sparse), axis=1)", "a dense tensor"),
    "tf.sparse.concat": ("tf.concat([tf.sparse.to_dense(sparse), dense], 0)", "dense tensors"),
    "tf.sparse.split": ("tf.split(tf.sparse.to_dense(sparse), 3)", "a dense tensor; tf.sparse.slice lets pass too"),
    "tf.sparse.bincount": _SEGMENTS,
    "tf.nn.ctc_greedy_decoder": _CTC,
    "tf.nn.ctc_beam_search_decoder": _CTC,
    "tf.edit_distance": _CTC,
    "keras.ops.ctc_decode": _CTC,
    "tf.quantization.quantize": _QUANTIZE,
    "tf.quantization.dequantize": _QUANTIZE,
    "tf.image.hsv_to_rgb": (
        "v - v * s * tf.clip_by_value(tf.minimum((h * 6.0 + 5.0) % 6.0, 4.0 - (h * 6.0 + 5.0) % 6.0), 0.0, 1.0)",
        "red; 3.0 and 1.0 in place of 5.0 give green and blue",
    ),
    "keras.ops.image.hsv_to_rgb": (
        "v - v * s * keras.ops.clip(keras.ops.minimum((h * 6.0 + 5.0) % 6.0, 4.0 - (h * 6.0 + 5.0) % 6.0), 0.0, 1.0)",
        "red; 3.0 and 1.0 in place of 5.0 give green and blue",
    ),
    "tf.image.adjust_contrast": (_CONTRAST, _SOFT_IMAGE),
    "tf.image.adjust_saturation": (_SATURATION, _SOFT_IMAGE),
    "tf.image.adjust_hue": (_HUE, "a rotation in YIQ"),
    **dict.fromkeys(("tf.image.random_contrast", "tf.image.stateless_random_contrast"), (_CONTRAST, _RANDOM)),
    **dict.fromkeys(("tf.image.random_saturation", "tf.image.stateless_random_saturation"), (_SATURATION, _RANDOM)),
    **dict.fromkeys(("tf.image.random_hue", "tf.image.stateless_random_hue"), (_HUE, "a random rotation in YIQ")),
    **dict.fromkeys(
        (
            "tf.image.adjust_jpeg_quality",
            "tf.image.random_jpeg_quality",
            "tf.image.stateless_random_jpeg_quality",
            "tf.image.encode_jpeg",
            "tf.image.encode_png",
        ),
        _JPEG,
    ),
    "tf.image.convert_image_dtype": ("tf.image.convert_image_dtype(image, tf.float16)", "keep floats, of any width"),
    "tf.image.resize": ("tf.image.resize(images, [3, 3], antialias=True)", "in place of the method 'area'"),
    "tf.image.extract_glimpse": (
        "tf.image.crop_and_resize(images, areas, [0], [3, 3])",
        "lets pass to image and boxes",
    ),
    **dict.fromkeys(
        (
            "tf.image.non_max_suppression",
            "tf.image.non_max_suppression_overlaps",
            "tf.image.non_max_suppression_padded",
            "tf.image.non_max_suppression_with_scores",
            "tf.image.combined_non_max_suppression",
        ),
        _SUPPRESSION,
    ),
    "keras.ops.image.affine_transform": _COORDINATES,
    "keras.ops.image.perspective_transform": _COORDINATES,
    "keras.ops.image.map_coordinates": (
        "keras.ops.image.map_coordinates(plane, coordinates, order=1)",
        "order 1 lets gradients reach the coordinates",
    ),
    "keras.random.shuffle": (
        "keras.ops.take(x, keras.random.shuffle(keras.ops.arange(4)), axis=0)",
        "shuffle the positions and take",
    ),
    "keras.metrics.binary_accuracy": _BINARY_LOSS,
    "keras.metrics.categorical_accuracy": _CATEGORICAL_LOSS,
    "keras.metrics.top_k_categorical_accuracy": _CATEGORICAL_LOSS,
    "keras.metrics.sparse_categorical_accuracy": _SPARSE_LOSS,
    "keras.metrics.sparse_top_k_categorical_accuracy": _SPARSE_LOSS,
    "keras.metrics.BinaryAccuracy": _BINARY_LOSS,
    "keras.metrics.CategoricalAccuracy": _CATEGORICAL_LOSS,
    "keras.metrics.TopKCategoricalAccuracy": _CATEGORICAL_LOSS,
    "keras.metrics.Accuracy": _CATEGORICAL_LOSS,
    "keras.metrics.SparseCategoricalAccuracy": _SPARSE_LOSS,
    "keras.metrics.SparseTopKCategoricalAccuracy": _SPARSE_LOSS,
    **dict.fromkeys(
        (f"keras.metrics.{name}" for name in ("IoU", "BinaryIoU", "MeanIoU", "OneHotIoU", "OneHotMeanIoU")),
        _OVERLAP_LOSS,
    ),
    **dict.fromkeys(
        (
            f"keras.metrics.{name}"
            for name in (
                "AUC F1Score FBetaScore Precision Recall PrecisionAtRecall RecallAtPrecision SensitivityAtSpecificity "
                "SpecificityAtSensitivity TruePositives TrueNegatives FalsePositives FalseNegatives".split()
            )
        ),
        _COUNT_LOSS,
    ),
    **{
        f"keras.metrics.{name}": (f"keras.losses.{loss}(y_true, y_pred)", _LOSS_OF_METRIC)
        for name, loss in {
            "BinaryCrossentropy": "binary_crossentropy",
            "CategoricalCrossentropy": "categorical_crossentropy",
            "CategoricalHinge": "categorical_hinge",
            "CosineSimilarity": "cosine_similarity",
            "Hinge": "hinge",
            "KLDivergence": "kl_divergence",
            "LogCoshError": "log_cosh",
            "MeanAbsoluteError": "mean_absolute_error",
            "MeanAbsolutePercentageError": "mean_absolute_percentage_error",
            "MeanSquaredError": "mean_squared_error",
            "MeanSquaredLogarithmicError": "mean_squared_logarithmic_error",
            "Poisson": "poisson",
            "RootMeanSquaredError": "mean_squared_error",
            "R2Score": "mean_squared_error",
            "SquaredHinge": "squared_hinge",
            "PearsonCorrelation": "mean_squared_error",
            "ConcordanceCorrelation": "mean_squared_error",
        }.items()
    },
    "keras.metrics.SparseCategoricalCrossentropy": (_SPARSE_LOSS[0], _LOSS_OF_METRIC),
    "keras.metrics.Mean": ("tf.reduce_mean(values)", "the mean of this batch, as a tensor"),
    "keras.metrics.MeanTensor": ("tf.reduce_mean(values)", "the mean of this batch, as a tensor"),
    "keras.metrics.Sum": ("tf.reduce_sum(values)", "the sum of this batch, as a tensor"),
}
#: Here a name of another namespace means something else: `keras.losses.poisson` is a loss.
OWN_ENTRIES = frozenset({"keras.losses", "keras.metrics", "keras.activations", "tf.image", "keras.ops.image"})
