"""What is public in these namespaces and is no function of tensors, with the reason: not measured."""

from __future__ import annotations

_GROUPS = {
    "works on names, types and devices, not on tensors": (
        "tf.as_dtype tf.control_dependencies tf.device tf.executing_eagerly tf.function tf.get_current_name_scope "
        "tf.get_logger tf.init_scope tf.inside_function tf.load_library tf.load_op_library tf.no_gradient tf.no_op "
        "tf.register_tensor_conversion_function tf.variable_creator_scope tf.import_graph_def tf.type_spec_from_value "
        "tf.timestamp tf.random.set_seed tf.random.set_global_generator tf.random.get_global_generator"
    ),
    "asks for gradients itself": "tf.gradients tf.hessians",
    "works on shapes": ("tf.broadcast_dynamic_shape tf.broadcast_static_shape tf.required_space_to_batch_paddings"),
    "works on encoded bytes": (
        "tf.image.decode_and_crop_jpeg tf.image.decode_bmp tf.image.decode_gif tf.image.decode_image "
        "tf.image.decode_jpeg tf.image.decode_jxl tf.image.decode_png tf.image.decode_webp "
        "tf.image.extract_jpeg_shape tf.image.is_jpeg"
    ),
    "works on integers": (
        "tf.nn.all_candidate_sampler tf.nn.compute_accidental_hits tf.nn.fixed_unigram_candidate_sampler "
        "tf.nn.learned_unigram_candidate_sampler tf.random.log_uniform_candidate_sampler "
        "tf.random.uniform_candidate_sampler tf.random.create_rng_state tf.random.fold_in tf.random.split "
        "tf.random_index_shuffle tf.random.experimental.index_shuffle "
        "tf.ragged.cross tf.ragged.cross_hashed tf.ragged.row_splits_to_segment_ids "
        "tf.ragged.segment_ids_to_row_splits tf.sparse.cross tf.sparse.cross_hashed tf.math.sobol_sample"
    ),
    "works on protocol buffers": "tf.make_ndarray",
    "works on shapes and types": (
        "tf.assert_rank tf.experimental.numpy.diag_indices tf.experimental.numpy.finfo tf.experimental.numpy.iinfo "
        "tf.experimental.numpy.issubdtype tf.experimental.numpy.promote_types "
        "tf.experimental.numpy.experimental_enable_numpy_behavior tf.experimental.numpy.result_type"
    ),
    "returns a function": "tf.signal.inverse_stft_window_fn",
    "is about memory, not values": "tf.check_pinned",
    "base class": "keras.losses.Loss keras.metrics.Metric keras.metrics.MeanMetricWrapper",
}
REASONS = {symbol: reason for reason, symbols in _GROUPS.items() for symbol in symbols.split()}
