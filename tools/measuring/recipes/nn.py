"""tf.nn.* and tf.quantization.*"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from measuring.inputs import Sparse
from measuring.recipe import Recipe
from measuring.recipes.short import MATRIX, VECTOR, as_int, fixed, floats, recipe

ONE = floats(1, 6, 2)
TWO = floats(1, 6, 6, 2)
THREE = floats(1, 4, 4, 4, 2)
KERNEL = floats(2, 2, 2, 2)
IDS = Sparse(indices=((0, 0), (0, 1), (1, 0), (2, 0)), shape=(3, 2))


def _ids(values: Any) -> tf.SparseTensor:
    return tf.SparseTensor(
        tf.constant(IDS.indices, tf.int64), tf.constant(values, tf.int64), tf.constant((3, 2), tf.int64)
    )


def _sampled() -> Recipe:
    return recipe(
        weights=floats(8, 3),
        biases=floats(8),
        labels=tf.constant([[1], [2]], tf.int64),
        inputs=floats(2, 3),
        num_sampled=3,
        num_classes=8,
        num_true=1,
    )


def _lengths(frames: int) -> list[int]:
    return [frames, frames]


RECIPES: dict[str, list[Recipe]] = {
    "tf.nn.approx_max_k": [recipe(operand=floats(8), k=3)],
    "tf.nn.approx_min_k": [recipe(operand=floats(8), k=3)],
    "tf.nn.atrous_conv2d": [recipe(value=TWO, filters=KERNEL, rate=2, padding="SAME")],
    "tf.nn.atrous_conv2d_transpose": [
        recipe(value=TWO, filters=KERNEL, output_shape=[1, 6, 6, 2], rate=2, padding="SAME")
    ],
    "tf.nn.avg_pool": [recipe(input=TWO, ksize=2, strides=2, padding="VALID")],
    "tf.nn.avg_pool1d": [recipe(input=ONE, ksize=2, strides=2, padding="VALID")],
    "tf.nn.avg_pool2d": [recipe(input=TWO, ksize=2, strides=2, padding="VALID")],
    "tf.nn.avg_pool3d": [recipe(input=THREE, ksize=2, strides=2, padding="VALID")],
    "tf.nn.max_pool": [recipe(input=TWO, ksize=2, strides=2, padding="VALID")],
    "tf.nn.max_pool1d": [recipe(input=ONE, ksize=2, strides=2, padding="VALID")],
    "tf.nn.max_pool2d": [recipe(input=TWO, ksize=2, strides=2, padding="VALID")],
    "tf.nn.max_pool3d": [recipe(input=THREE, ksize=2, strides=2, padding="VALID")],
    "tf.nn.max_pool_with_argmax": [recipe(input=TWO, ksize=2, strides=2, padding="VALID")],
    "tf.nn.pool": [
        recipe(input=TWO, window_shape=[2, 2], pooling_type="AVG", strides=[2, 2]),
        recipe(input=TWO, window_shape=[2, 2], pooling_type="MAX", strides=[2, 2], variant="MAX"),
    ],
    "tf.nn.fractional_avg_pool": [recipe(value=TWO, pooling_ratio=[1.0, 1.5, 1.5, 1.0], seed=1)],
    "tf.nn.batch_norm_with_global_normalization": [
        recipe(
            input=TWO,
            mean=floats(2),
            variance=floats(2, domain="unit"),
            beta=floats(2),
            gamma=floats(2),
            variance_epsilon=1e-3,
            scale_after_normalization=True,
        )
    ],
    "tf.nn.batch_normalization": [
        recipe(
            x=MATRIX,
            mean=VECTOR,
            variance=floats(4, domain="unit"),
            offset=VECTOR,
            scale=VECTOR,
            variance_epsilon=1e-3,
        )
    ],
    "tf.nn.bias_add": [recipe(value=MATRIX, bias=VECTOR)],
    "tf.nn.collapse_repeated": [recipe(labels=MATRIX, seq_length=[4, 3, 2])],
    "tf.nn.compute_average_loss": [
        recipe(per_example_loss=VECTOR, global_batch_size=4),
        recipe(per_example_loss=VECTOR, sample_weight=VECTOR, global_batch_size=4),
    ],
    "tf.nn.conv1d": [recipe(input=ONE, filters=floats(2, 2, 2), stride=1, padding="VALID")],
    "tf.nn.conv1d_transpose": [recipe(input=ONE, filters=floats(2, 2, 2), output_shape=[1, 6, 2], strides=1)],
    "tf.nn.conv2d": [recipe(input=TWO, filters=KERNEL, strides=1, padding="VALID")],
    "tf.nn.conv2d_transpose": [recipe(input=TWO, filters=KERNEL, output_shape=[1, 6, 6, 2], strides=1)],
    "tf.nn.conv3d": [recipe(input=THREE, filters=floats(2, 2, 2, 2, 2), strides=[1] * 5, padding="VALID")],
    "tf.nn.conv3d_transpose": [
        recipe(input=THREE, filters=floats(2, 2, 2, 2, 2), output_shape=[1, 4, 4, 4, 2], strides=1)
    ],
    "tf.nn.conv_transpose": [recipe(input=TWO, filters=KERNEL, output_shape=[1, 6, 6, 2], strides=1)],
    "tf.nn.convolution": [recipe(input=TWO, filters=KERNEL)],
    "tf.nn.ctc_beam_search_decoder": [recipe(inputs=floats(5, 2, 4), sequence_length=_lengths(5))],
    "tf.nn.ctc_greedy_decoder": [recipe(inputs=floats(5, 2, 4), sequence_length=_lengths(5))],
    "tf.nn.ctc_loss": [
        recipe(
            labels=tf.constant([[1, 2], [2, 3]]),
            logits=floats(5, 2, 4),
            label_length=[2, 2],
            logit_length=_lengths(5),
            blank_index=0,
        )
    ],
    "tf.nn.ctc_unique_labels": [recipe(labels=as_int([[1.0, 2.0], [2.0, 3.0]]))],
    "tf.nn.depth_to_space": [recipe(input=floats(1, 2, 2, 4), block_size=2)],
    "tf.nn.space_to_depth": [recipe(input=floats(1, 4, 4, 1), block_size=2)],
    "tf.nn.depthwise_conv2d": [recipe(input=TWO, filter=KERNEL, strides=[1] * 4, padding="VALID")],
    "tf.nn.depthwise_conv2d_backprop_filter": [
        recipe(
            input=TWO,
            filter_sizes=[2, 2, 2, 2],
            out_backprop=floats(1, 5, 5, 4),
            strides=[1] * 4,
            padding="VALID",
        )
    ],
    "tf.nn.depthwise_conv2d_backprop_input": [
        recipe(
            input_sizes=[1, 6, 6, 2],
            filter=KERNEL,
            out_backprop=floats(1, 5, 5, 4),
            strides=[1] * 4,
            padding="VALID",
        )
    ],
    "tf.nn.dilation2d": [
        recipe(
            input=TWO,
            filters=floats(2, 2, 2),
            strides=[1] * 4,
            padding="VALID",
            data_format="NHWC",
            dilations=[1] * 4,
        )
    ],
    "tf.nn.erosion2d": [
        recipe(
            value=TWO,
            filters=floats(2, 2, 2),
            strides=[1] * 4,
            padding="VALID",
            data_format="NHWC",
            dilations=[1] * 4,
        )
    ],
    "tf.nn.dropout": [recipe(x=floats(40), rate=0.5, seed=3)],
    "tf.nn.experimental.stateless_dropout": [recipe(x=floats(40), rate=0.5, seed=(1, 2))],
    "tf.nn.experimental.general_dropout": [recipe(x=floats(40), rate=0.5, uniform_sampler=tf.random.uniform)],
    "tf.nn.embedding_lookup": [recipe(params=MATRIX, ids=[0, 2])],
    "tf.nn.embedding_lookup_sparse": [recipe(params=floats(5, 3), sp_ids=_ids([0, 2, 1, 0]), sp_weights=IDS)],
    "tf.nn.safe_embedding_lookup_sparse": [
        recipe(embedding_weights=floats(5, 3), sparse_ids=_ids([0, 2, 1, 0]), sparse_weights=IDS)
    ],
    "tf.nn.fractional_max_pool": [recipe(value=TWO, pooling_ratio=[1.0, 1.5, 1.5, 1.0], seed=1)],
    "tf.nn.isotonic_regression": [recipe(inputs=VECTOR)],
    "tf.nn.local_response_normalization": [recipe(input=TWO)],
    "tf.nn.log_poisson_loss": [
        recipe(targets=floats(4, domain="unit"), log_input=VECTOR),
        recipe(targets=floats(4, domain="gt1"), log_input=VECTOR, compute_full_loss=True, variant="compute_full_loss"),
    ],
    "tf.nn.moments": [recipe(x=MATRIX, axes=[0])],
    "tf.nn.nce_loss": [_sampled()],
    "tf.nn.sampled_softmax_loss": [_sampled()],
    "tf.nn.normalize_moments": [recipe(counts=fixed(4.0), mean_ss=VECTOR, variance_ss=VECTOR, shift=None)],
    "tf.nn.scale_regularization_loss": [recipe(regularization_loss=fixed(0.7))],
    "tf.nn.separable_conv2d": [
        recipe(
            input=TWO,
            depthwise_filter=floats(2, 2, 2, 1),
            pointwise_filter=floats(1, 1, 2, 3),
            strides=[1] * 4,
            padding="VALID",
        )
    ],
    "tf.nn.sigmoid_cross_entropy_with_logits": [recipe(labels=VECTOR, logits=VECTOR)],
    "tf.nn.softmax_cross_entropy_with_logits": [recipe(labels=floats(3, 4, domain="unit"), logits=MATRIX)],
    "tf.nn.sparse_softmax_cross_entropy_with_logits": [recipe(labels=[0, 1, 3], logits=MATRIX)],
    "tf.nn.sufficient_statistics": [
        recipe(x=MATRIX, axes=[0]),
        recipe(x=MATRIX, axes=[0], shift=fixed(0.3), variant="shift"),
    ],
    "tf.nn.weighted_cross_entropy_with_logits": [recipe(labels=VECTOR, logits=VECTOR, pos_weight=fixed(1.5))],
    "tf.nn.weighted_moments": [recipe(x=MATRIX, axes=[0], frequency_weights=floats(3, 4, domain="unit"))],
    "tf.nn.with_space_to_batch": [
        recipe(
            call_with=lambda f, arg0, arg1: f(
                arg0,
                [2, 2],
                "VALID",
                lambda x, num_spatial_dims, padding: tf.nn.conv2d(x, arg1, 1, padding),
                filter_shape=[2, 2],
            ),
            arg0=TWO,
            arg1=KERNEL,
        )
    ],
    "tf.nn.crelu": [recipe(features=VECTOR)],
    "tf.nn.softmax": [recipe(logits=VECTOR)],
    "tf.nn.log_softmax": [recipe(logits=VECTOR)],
}

MINIMUM, MAXIMUM = fixed(-1.0), fixed(1.0)
CHANNELS = floats(2, 4)
LOWS, HIGHS = fixed([-0.6, -0.5, -0.4, -0.5]), fixed([1.0, 1.0, 0.8, 0.9])


RECIPES |= {
    "tf.quantization.dequantize": [
        recipe(
            call_with=lambda f, arg0, arg1: f(
                tf.quantization.quantize([0.3, 0.7], -1.0, 1.0, tf.quint8).output, arg0, arg1
            ),
            arg0=MINIMUM,
            arg1=MAXIMUM,
        ),
        recipe(
            call_with=lambda f, min_range, max_range: f(
                tf.quantization.quantize([0.3, 0.7], -1.0, 1.0, tf.quint8).output, min_range, max_range
            ),
            min_range=MINIMUM,
            max_range=MAXIMUM,
        ),
    ],
    "tf.quantization.quantize": [recipe(input=VECTOR, min_range=MINIMUM, max_range=MAXIMUM, T=tf.quint8)],
    "tf.quantization.fake_quant_with_min_max_args": [recipe(inputs=VECTOR)],
    "tf.quantization.fake_quant_with_min_max_args_gradient": [recipe(gradients=VECTOR, inputs=VECTOR)],
    "tf.quantization.fake_quant_with_min_max_vars": [recipe(inputs=VECTOR, min=MINIMUM, max=fixed(3.0))],
    "tf.quantization.fake_quant_with_min_max_vars_gradient": [
        recipe(gradients=VECTOR, inputs=VECTOR, min=MINIMUM, max=MAXIMUM)
    ],
    "tf.quantization.fake_quant_with_min_max_vars_per_channel": [recipe(inputs=floats(16, 4), min=LOWS, max=HIGHS)],
    "tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient": [
        recipe(gradients=CHANNELS, inputs=CHANNELS, min=LOWS, max=HIGHS)
    ],
    "tf.quantization.quantize_and_dequantize": [
        recipe(input=VECTOR, input_min=fixed(-3.0), input_max=fixed(3.0), range_given=True),
    ],
    "tf.quantization.quantize_and_dequantize_v2": [
        recipe(input=VECTOR, input_min=fixed(-3.0), input_max=fixed(3.0), range_given=True),
    ],
    "tf.quantization.quantized_concat": [
        recipe(
            call_with=lambda f, input_mins, input_maxes: f(
                0,
                [tf.quantization.quantize([0.3, 0.7], -1.0, 1.0, tf.quint8).output] * 2,
                [input_mins, input_mins],
                [input_maxes, input_maxes],
            ),
            input_mins=MINIMUM,
            input_maxes=MAXIMUM,
        )
    ],
}
