"""The table of operations: one row each, with every name that it goes by.

A name without a dot is an operator or the last name of a function in any namespace of arrays (`lookup.py` knows which);
one with a dot is a whole symbol, and counts more. A new spelling is one word here.
"""

from __future__ import annotations

from gradlint.ops.op import Op, Role

_ROWS: list[Op] = []


def _row(
    spelled: str,
    role: Role,
    *,
    operands: int = 1,
    entrywise: bool = False,
    linear: bool = False,
    kinked: bool = False,
    keeps_dtype: bool = False,
    keeps_shape: bool = False,
) -> Op:
    names = tuple(spelled.split())
    made = Op(names[0], role, names, operands, entrywise, linear, kinked, keeps_dtype, keeps_shape)
    _ROWS.append(made)
    return made


# --- arithmetic ------------------------------------------------------------------------------------------------------

ADD = _row("add + tf.nn.bias_add bias_add", Role.SUM, operands=2, entrywise=True, linear=True)
ADD_N = _row("add_n accumulate_n", Role.SUM, linear=True)
SUM_OF = _row("builtins.sum", Role.SUM, linear=True)
SUBTRACT = _row("subtract -", Role.DIFFERENCE, operands=2, entrywise=True, linear=True)
NEGATIVE = _row("negative", Role.NEGATIVE, entrywise=True, linear=True, keeps_shape=True)
MULTIPLY = _row("multiply *", Role.PRODUCT, operands=2, entrywise=True)
MULTIPLY_NO_NAN = _row("multiply_no_nan", Role.PRODUCT, operands=2, entrywise=True)
SCALE = _row("scalar_mul", Role.PRODUCT, operands=2, entrywise=True)
BOOLEAN_PRODUCT = _row("<boolean-product>", Role.LOGIC, operands=2, entrywise=True)
DIVIDE = _row("divide / truediv true_divide realdiv", Role.QUOTIENT, operands=2, entrywise=True)
DIVIDE_NO_NAN = _row("divide_no_nan", Role.QUOTIENT, operands=2, entrywise=True)
XDIVY = _row("xdivy", Role.QUOTIENT, operands=2, entrywise=True)
FLOOR_DIVIDE = _row("floordiv // floor_divide floor_div", Role.ROUNDING, operands=2, entrywise=True)
REMAINDER = _row("mod % floormod remainder", Role.FUNCTION, operands=2, entrywise=True)
POWER = _row("pow ** power builtins.pow", Role.POWER, operands=2, entrywise=True)
SQUARED_DIFFERENCE = _row("squared_difference", Role.FUNCTION, operands=2, entrywise=True)
MATMUL = _row("matmul @ dot batch_dot sparse_dense_matmul", Role.MATRIX_PRODUCT, operands=2)
MATVEC = _row("matvec", Role.MATRIX_PRODUCT, operands=2)
CONTRACT = _row("tensordot einsum inner", Role.MATRIX_PRODUCT, operands=2)
CONVOLVE = _row(
    "conv2d conv conv1d conv3d convolution conv2d_transpose conv_transpose depthwise_conv2d depthwise_conv "
    "separable_conv2d separable_conv conv1d_transpose conv3d_transpose",
    Role.MATRIX_PRODUCT,
    operands=2,
)  # fmt: skip

# --- what hands on numbers -------------------------------------------------------------------------------------------

READ = _row("read read_value value values", Role.COPY, entrywise=True, linear=True, keeps_dtype=True, keeps_shape=True)
IDENTITY = _row(
    "identity ensure_shape check_numerics grad_pass_through tf.grad_pass_through copy deepcopy guarantee_const",
    Role.COPY, entrywise=True, linear=True, keeps_dtype=True, keeps_shape=True,
)  # fmt: skip
STOP = _row("stop_gradient", Role.COPY, entrywise=True, linear=True, keeps_dtype=True, keeps_shape=True)
CONVERT = _row("convert_to_tensor", Role.COPY, entrywise=True, linear=True, keeps_shape=True)
CAST = _row(
    "cast astype saturate_cast tf.image.convert_image_dtype float16 float32 float64 bfloat16",
    Role.COPY, entrywise=True, linear=True, keeps_shape=True,
)  # fmt: skip
TRACED = _row("tf.function", Role.COPY, entrywise=True, linear=True, keeps_dtype=True, keeps_shape=True)
RESHAPE = _row("reshape", Role.RESHAPE, linear=True, keeps_dtype=True)
FLATTEN = _row("flatten ravel batch_flatten", Role.RESHAPE, linear=True, keeps_dtype=True)
EXPAND = _row("expand_dims", Role.RESHAPE, linear=True, keeps_dtype=True)
SQUEEZE = _row("squeeze", Role.RESHAPE, linear=True, keeps_dtype=True)
TRANSPOSE = _row(
    "transpose permute_dimensions swapaxes moveaxis matrix_transpose", Role.RESHAPE, linear=True, keeps_dtype=True
)
REVERSE = _row("reverse roll flip", Role.RESHAPE, linear=True, keeps_dtype=True, keeps_shape=True)
ITEM = _row("[]", Role.PICK, linear=True, keeps_dtype=True)
SLICE = _row("slice strided_slice", Role.PICK, linear=True, keeps_dtype=True)
GATHER = _row("gather take", Role.PICK, linear=True, keeps_dtype=True)
LOOK_UP = _row("embedding_lookup embedding_lookup_v2", Role.PICK, linear=True, keeps_dtype=True)
GATHER_ND = _row("gather_nd", Role.PICK, linear=True, keeps_dtype=True)
GATHER_ALONG = _row("take_along_axis", Role.PICK, linear=True, keeps_dtype=True)
BOOLEAN_MASK = _row("boolean_mask", Role.PICK, linear=True, keeps_dtype=True)
SPLIT = _row("split", Role.PICK, linear=True, keeps_dtype=True)
UNSTACK = _row("unstack", Role.PICK, linear=True, keeps_dtype=True)
CONCAT = _row("concat concatenate", Role.ASSEMBLE, linear=True)
STACK = _row("stack", Role.ASSEMBLE, linear=True)
REPEAT = _row("tile repeat", Role.ASSEMBLE, linear=True, keeps_dtype=True)
BROADCAST = _row("broadcast_to", Role.ASSEMBLE, linear=True, keeps_dtype=True)
PAD = _row("pad", Role.ASSEMBLE, linear=True)
SORT = _row("sort", Role.RESHAPE, keeps_shape=True)
REAL = _row("real", Role.COPY, entrywise=True, keeps_shape=True)
TRIANGLE = _row("tril triu band_part diag", Role.OTHER, linear=True)

# --- one number of many ----------------------------------------------------------------------------------------------

SUM = _row("reduce_sum sum", Role.TOTAL, linear=True)
MEAN = _row("reduce_mean mean", Role.TOTAL, linear=True)
MEAN_OF_BATCH = _row("compute_average_loss", Role.TOTAL, linear=True)
PRODUCT_OF = _row("reduce_prod prod", Role.TOTAL)
MAXIMUM_OF = _row("reduce_max max amax", Role.EXTREME, kinked=True)
MINIMUM_OF = _row("reduce_min min amin", Role.EXTREME, kinked=True)
LOGSUMEXP = _row("reduce_logsumexp logsumexp", Role.TOTAL)
STD = _row("reduce_std std", Role.TOTAL)
VARIANCE = _row("reduce_variance variance var", Role.TOTAL)
NORM = _row("norm reduce_euclidean_norm euclidean_norm", Role.TOTAL)
L2_LOSS = _row("l2_loss", Role.TOTAL)
GLOBAL_NORM = _row("global_norm", Role.TOTAL)
ANY = _row("reduce_any any", Role.TOTAL)
ALL = _row("reduce_all all", Role.TOTAL)
COUNT_NONZERO = _row("count_nonzero", Role.TOTAL)
FREQUENCIES = _row("bincount histogram_fixed_width zero_fraction matrix_rank", Role.OTHER)
ACCURACY = _row("binary_accuracy categorical_accuracy sparse_categorical_accuracy", Role.OTHER)
SEGMENT_SUM = _row("unsorted_segment_sum", Role.OTHER)
#: Of a loss made of these nothing is left to differentiate.
COUNTS = frozenset({COUNT_NONZERO, FREQUENCIES, ACCURACY, SEGMENT_SUM})
ARGMAX = _row("argmax argmin arg_max arg_min argsort", Role.OTHER)
TOP_K = _row("top_k", Role.PICK)
IN_TOP_K = _row("in_top_k", Role.OTHER)

# --- bounds, choices, comparisons ------------------------------------------------------------------------------------

MAXIMUM = _row("maximum", Role.BOUND, operands=2, entrywise=True, kinked=True)
MINIMUM = _row("minimum", Role.BOUND, operands=2, entrywise=True, kinked=True)
CLIP = _row("clip_by_value clip", Role.CLIP, entrywise=True, kinked=True, keeps_shape=True)
CLIP_BY_NORM = _row("clip_by_norm clip_by_average_norm", Role.CLIP, keeps_shape=True)
CLIP_BY_GLOBAL_NORM = _row("clip_by_global_norm", Role.CLIP)
WHERE = _row("where where_v2", Role.CHOICE, operands=3)
SWITCH = _row("switch", Role.CHOICE, operands=3)
GREATER = _row("greater >", Role.COMPARISON, operands=2, entrywise=True)
GREATER_EQUAL = _row("greater_equal >=", Role.COMPARISON, operands=2, entrywise=True)
LESS = _row("less <", Role.COMPARISON, operands=2, entrywise=True)
LESS_EQUAL = _row("less_equal <=", Role.COMPARISON, operands=2, entrywise=True)
EQUAL = _row("equal ==", Role.COMPARISON, operands=2, entrywise=True)
NOT_EQUAL = _row("not_equal !=", Role.COMPARISON, operands=2, entrywise=True)
COMPARE = _row("comparison", Role.COMPARISON, operands=2)  # a chain of them
AND = _row("logical_and &", Role.LOGIC, operands=2, entrywise=True)
OR = _row("logical_or |", Role.LOGIC, operands=2, entrywise=True)
XOR = _row("logical_xor ^", Role.LOGIC, operands=2, entrywise=True)
NOT = _row("logical_not ~", Role.LOGIC, entrywise=True, keeps_shape=True)

# --- functions of each number ----------------------------------------------------------------------------------------


def _function(spelled: str, *, kinked: bool = False) -> Op:
    return _row(spelled, Role.FUNCTION, entrywise=True, kinked=kinked, keeps_shape=True)


ABS = _function("abs absolute builtins.abs", kinked=True)
SQUARE = _function("square")
SQRT = _function("sqrt")
RSQRT = _function("rsqrt")
RECIPROCAL = _function("reciprocal reciprocal_no_nan")
EXP = _function("exp")
EXPM1 = _function("expm1")
LOG = _function("log")
LOG1P = _function("log1p")
LOG2 = _function("log2")
LOG10 = _function("log10")
SIN, COS, TAN = _function("sin"), _function("cos"), _function("tan")
SINH, COSH = _function("sinh"), _function("cosh")
ASIN = _function("asin arcsin")
ACOS = _function("acos arccos")
ATAN = _function("atan arctan")
ATANH = _function("atanh arctanh")
ACOSH = _function("acosh arccosh")
ASINH = _function("asinh arcsinh")
ERF = _function("erf")
SIGN = _row("sign", Role.ROUNDING, entrywise=True, keeps_shape=True)
ROUND = _row("round rint builtins.round", Role.ROUNDING, entrywise=True, keeps_shape=True)
FLOOR = _row("floor", Role.ROUNDING, entrywise=True, keeps_shape=True)
CEIL = _row("ceil", Role.ROUNDING, entrywise=True, keeps_shape=True)
RELU = _function("relu", kinked=True)
RELU6 = _function("relu6", kinked=True)
LEAKY_RELU = _function("leaky_relu", kinked=True)
SIGMOID = _function("sigmoid")
HARD_SIGMOID = _function("hard_sigmoid", kinked=True)
LOG_SIGMOID = _function("log_sigmoid")
TANH = _function("tanh")
SOFTPLUS = _function("softplus")
SOFTSIGN = _function("softsign")
GELU = _function("gelu")
ELU = _function("elu")
SELU = _function("selu")
SILU = _function("silu swish")
MISH = _function("mish")
EXPONENTIAL = _function("exponential")
LINEAR = _function("linear", kinked=True)
SOFTMAX = _row("softmax", Role.FUNCTION, keeps_shape=True)
LOG_SOFTMAX = _row("log_softmax", Role.FUNCTION, keeps_shape=True)
NORMALIZE = _row("l2_normalize normalize", Role.FUNCTION)
DROPOUT = _row("dropout stateless_dropout", Role.DRAW, keeps_shape=True)
MAX_POOL = _row("max_pool max_pool2d max_pool1d max_pool3d", Role.OTHER)
AVG_POOL = _row("avg_pool avg_pool2d average_pool avg_pool1d avg_pool3d", Role.OTHER, linear=True)

# --- numbers that are written down or drawn, and shapes --------------------------------------------------------------

CONSTANT = _row("constant", Role.MAKE)
ARRAY = _row("array", Role.MAKE)
AS_ARRAY = _row("asarray", Role.MAKE)  # of an array the array itself
ZEROS = _row("zeros", Role.MAKE)
ONES = _row("ones", Role.MAKE)
EMPTY = _row("empty", Role.MAKE)
FULL = _row("fill full", Role.MAKE)
ZEROS_LIKE = _row("zeros_like", Role.MAKE)
ONES_LIKE = _row("ones_like", Role.MAKE)
EMPTY_LIKE = _row("empty_like", Role.MAKE)
FULL_LIKE = _row("full_like", Role.MAKE)
EYE = _row("eye np.identity keras.ops.identity tf.experimental.numpy.identity", Role.MAKE)
RANGE = _row("range arange", Role.MAKE)
LINSPACE = _row("linspace", Role.MAKE)
ONE_HOT = _row("one_hot", Role.MAKE)
SEQUENCE_MASK = _row("sequence_mask", Role.MAKE)
NORMAL = _row("normal randn standard_normal", Role.DRAW)
STATELESS_NORMAL = _row("stateless_normal", Role.DRAW)
TRUNCATED_NORMAL = _row("truncated_normal stateless_truncated_normal", Role.DRAW)
UNIFORM = _row("uniform", Role.DRAW)
STATELESS_UNIFORM = _row("stateless_uniform", Role.DRAW)
RAND = _row("rand np.random.random np.random.random_sample np.ndarray.random np.ndarray.random_sample", Role.DRAW)
DRAW = _row("randint integers random random_sample binomial choice poisson gamma beta categorical", Role.DRAW)
SHAPE = _row("shape size rank ndim shape_n get_shape int_shape dtype", Role.SHAPE)

# --- scatters and losses ---------------------------------------------------------------------------------------------

SCATTER_ND = _row("scatter_nd", Role.SCATTER)
SCATTER_UPDATE = _row("tensor_scatter_nd_update keras.ops.scatter_update", Role.SCATTER, keeps_shape=True)
SCATTER_ADD = _row("tensor_scatter_nd_add", Role.SCATTER, keeps_shape=True)
SCATTER_SUB = _row("tensor_scatter_nd_sub", Role.SCATTER, keeps_shape=True)
SCATTER_MAX = _row("tensor_scatter_nd_max", Role.SCATTER, keeps_shape=True)
SCATTER_MIN = _row("tensor_scatter_nd_min", Role.SCATTER, keeps_shape=True)
PY_FUNCTION = _row("tf.py_function tf.py_func", Role.OTHER)
NUMPY_FUNCTION = _row("tf.numpy_function", Role.OTHER)
INDEXED_SLICES = _row("tf.IndexedSlices", Role.SCATTER)
SIGMOID_CROSS_ENTROPY = _row("sigmoid_cross_entropy_with_logits", Role.LOSS, operands=2)
CROSS_ENTROPY = _row(
    "softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits weighted_cross_entropy_with_logits "
    "nce_loss sampled_softmax_loss ctc_loss",
    Role.LOSS, operands=2,
)  # fmt: skip
MEAN_LOSS = _row(
    "mean_squared_error mean_absolute_error binary_crossentropy categorical_crossentropy mse mae "
    "sparse_categorical_crossentropy huber log_cosh",
    Role.LOSS, operands=2,
)  # fmt: skip
LOSS = _row(
    "kl_divergence kld KLD poisson_loss keras.losses.poisson keras.metrics.poisson kullback_leibler_divergence "
    "binary_focal_crossentropy categorical_focal_crossentropy mean_squared_logarithmic_error msle MSE MAE MSLE MAPE "
    "mean_absolute_percentage_error mape hinge squared_hinge categorical_hinge cosine_similarity",
    Role.LOSS, operands=2,
)  # fmt: skip

ROWS = tuple(_ROWS)
