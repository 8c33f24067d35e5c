"""tf.image.* and keras.ops.image.*"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from measuring.inputs import Floats
from measuring.recipe import Recipe
from measuring.recipes.short import IMAGE, IMAGES01, fixed, floats, recipe

PICTURE = floats(8, 8, 3)
PICTURE01 = floats(8, 8, 3, domain="unit")
BIG = floats(1, 16, 16, 1, domain="unit")
BOXES = fixed([[0.1, 0.1, 0.5, 0.6], [0.2, 0.2, 0.9, 0.8], [0.0, 0.5, 0.4, 1.0]])
SCORES = fixed([0.9, 0.6, 0.7])
CROP: dict[str, Any] = {"offset_height": 1, "offset_width": 2, "target_height": 4, "target_width": 4}
SEED = (1, 2)


def _bytes(pictures: Any) -> Any:
    return tf.cast(pictures * 255.0, tf.uint8)


RECIPES: dict[str, list[Recipe]] = {
    f"tf.image.{name}": [recipe(image=PICTURE)]
    for name in ("flip_left_right", "flip_up_down", "per_image_standardization", "rot90", "transpose")
}
RECIPES |= {
    f"tf.image.{name}": [recipe(images=IMAGE)]
    for name in ("rgb_to_grayscale", "rgb_to_yiq", "rgb_to_yuv", "yiq_to_rgb", "yuv_to_rgb", "total_variation")
}
RECIPES |= {
    "tf.image.rgb_to_hsv": [recipe(images=IMAGES01)],
    "tf.image.hsv_to_rgb": [recipe(images=IMAGES01)],
    "tf.image.grayscale_to_rgb": [recipe(images=floats(1, 4, 4, 1))],
    "tf.image.adjust_brightness": [recipe(image=PICTURE, delta=fixed(0.2))],
    "tf.image.adjust_contrast": [recipe(images=PICTURE01, contrast_factor=fixed(1.5))],
    "tf.image.adjust_gamma": [recipe(image=PICTURE01, gamma=fixed(1.5), gain=fixed(1.2))],
    "tf.image.adjust_hue": [recipe(image=PICTURE01, delta=fixed(0.2))],
    "tf.image.adjust_saturation": [recipe(image=PICTURE01, saturation_factor=fixed(1.5))],
    "tf.image.adjust_jpeg_quality": [recipe(image=PICTURE01, jpeg_quality=75)],
    "tf.image.central_crop": [recipe(image=PICTURE, central_fraction=0.5)],
    "tf.image.combined_non_max_suppression": [
        recipe(
            boxes=floats(1, 3, 1, 4, domain="unit"),
            scores=floats(1, 3, 2, domain="unit"),
            max_output_size_per_class=2,
            max_total_size=2,
        )
    ],
    "tf.image.convert_image_dtype": [
        recipe(image=PICTURE01, dtype=dtype, variant=f"to {dtype.name}")
        for dtype in (tf.uint8, tf.float16, tf.float64, tf.float32)
    ]
    + [recipe(image=PICTURE01, dtype=tf.float16)],
    "tf.image.crop_and_resize": [
        recipe(
            image=IMAGE,
            boxes=fixed([[0.1, 0.15, 0.6, 0.7]]),
            box_indices=[0],
            crop_size=[3, 3],
            method=method,
            variant=method,
        )
        for method in ("bilinear", "nearest")
    ],
    "tf.image.crop_to_bounding_box": [recipe(image=PICTURE, **CROP)],
    "tf.image.pad_to_bounding_box": [
        recipe(image=PICTURE, offset_height=1, offset_width=1, target_height=10, target_width=10)
    ],
    "tf.image.draw_bounding_boxes": [
        recipe(images=IMAGES01, boxes=fixed([[[0.1, 0.1, 0.5, 0.6]]]), colors=fixed([[1.0, 0.0, 0.5]]))
    ],
    "tf.image.encode_jpeg": [recipe(call_with=lambda f, arg0: f(_bytes(arg0)), arg0=PICTURE01)],
    "tf.image.encode_png": [recipe(call_with=lambda f, arg0: f(_bytes(arg0)), arg0=PICTURE01)],
    "tf.image.extract_glimpse": [recipe(input=IMAGE, size=[3, 3], offsets=fixed([[0.1, 0.2]]))],
    "tf.image.extract_patches": [
        recipe(images=IMAGE, sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID")
    ],
    "tf.image.generate_bounding_box_proposals": [
        recipe(
            scores=floats(1, 2, 2, 3, domain="unit"),
            bbox_deltas=floats(1, 2, 2, 12, domain="unit"),
            image_info=fixed([[100.0, 100.0, 1.0]]),
            anchors=fixed([[0.0, 0.0, 30.0, 30.0], [10.0, 10.0, 50.0, 50.0], [5.0, 5.0, 90.0, 90.0]]),
        )
    ],
    "tf.image.image_gradients": [recipe(image=IMAGE)],
    "tf.image.non_max_suppression": [recipe(boxes=BOXES, scores=SCORES, max_output_size=2)],
    "tf.image.non_max_suppression_overlaps": [
        recipe(overlaps=floats(3, 3, domain="unit"), scores=SCORES, max_output_size=2)
    ],
    "tf.image.non_max_suppression_padded": [
        recipe(boxes=BOXES, scores=SCORES, max_output_size=2, pad_to_max_output_size=True)
    ],
    "tf.image.non_max_suppression_with_scores": [recipe(boxes=BOXES, scores=SCORES, max_output_size=2)],
    "tf.image.psnr": [recipe(a=PICTURE01, b=PICTURE01, max_val=1.0)],
    "tf.image.ssim": [recipe(img1=BIG, img2=BIG, max_val=1.0)],
    "tf.image.ssim_multiscale": [
        recipe(
            img1=floats(1, 32, 32, 1, domain="unit"),
            img2=Floats((1, 32, 32, 1), "unit", turn=lambda drawn: 0.9 * drawn[:, ::-1] + 0.05),
            max_val=1.0,
            power_factors=(0.5, 0.5),
            filter_size=5,
        )
    ],
    "tf.image.random_brightness": [recipe(image=PICTURE, max_delta=0.2, seed=1)],
    "tf.image.random_contrast": [recipe(image=PICTURE01, lower=0.5, upper=1.5, seed=1)],
    "tf.image.random_crop": [recipe(value=PICTURE, size=[4, 4, 3], seed=1)],
    "tf.image.random_flip_left_right": [recipe(image=PICTURE, seed=1)],
    "tf.image.random_flip_up_down": [recipe(image=PICTURE, seed=1)],
    "tf.image.random_hue": [recipe(image=PICTURE01, max_delta=0.2, seed=1)],
    "tf.image.random_jpeg_quality": [recipe(image=PICTURE01, min_jpeg_quality=50, max_jpeg_quality=90, seed=1)],
    "tf.image.random_saturation": [recipe(image=PICTURE01, lower=0.5, upper=1.5, seed=1)],
    "tf.image.stateless_random_brightness": [recipe(image=PICTURE, max_delta=0.2, seed=SEED)],
    "tf.image.stateless_random_contrast": [recipe(image=PICTURE01, lower=0.5, upper=1.5, seed=SEED)],
    "tf.image.stateless_random_crop": [recipe(value=PICTURE, size=[4, 4, 3], seed=SEED)],
    "tf.image.stateless_random_flip_left_right": [recipe(image=PICTURE, seed=SEED)],
    "tf.image.stateless_random_flip_up_down": [recipe(image=PICTURE, seed=SEED)],
    "tf.image.stateless_random_hue": [recipe(image=PICTURE01, max_delta=0.2, seed=SEED)],
    "tf.image.stateless_random_jpeg_quality": [
        recipe(image=PICTURE01, min_jpeg_quality=50, max_jpeg_quality=90, seed=SEED)
    ],
    "tf.image.stateless_random_saturation": [recipe(image=PICTURE01, lower=0.5, upper=1.5, seed=SEED)],
    "tf.image.resize": [
        recipe(images=IMAGE, size=[5, 6], method=method, variant=method)
        for method in ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
    ]
    + [recipe(images=IMAGE, size=[5, 6], antialias=True, variant="bilinear antialias")],
    "tf.image.resize_with_crop_or_pad": [recipe(image=PICTURE, target_height=5, target_width=5)],
    "tf.image.resize_with_pad": [recipe(image=PICTURE, target_height=6, target_width=7)],
    "tf.image.sample_distorted_bounding_box": [
        recipe(image_size=[8, 8, 3], bounding_boxes=fixed([[[0.1, 0.1, 0.5, 0.6]]]), seed=1)
    ],
    "tf.image.stateless_sample_distorted_bounding_box": [
        recipe(image_size=[8, 8, 3], bounding_boxes=fixed([[[0.1, 0.1, 0.5, 0.6]]]), seed=SEED)
    ],
    "tf.image.sobel_edges": [recipe(image=IMAGE)],
}
TRANSFORM = fixed([[1.0, 0.1, 0.3, 0.05, 1.0, 0.2, 0.0, 0.0]])
START = fixed([[[0.0, 0.0], [0.0, 7.0], [7.0, 0.0], [7.0, 7.0]]])
END = fixed([[[0.5, 0.3], [0.2, 6.5], [6.4, 0.6], [6.8, 6.9]]])
RECIPES |= {
    "keras.ops.image.affine_transform": [
        recipe(images=IMAGE, transform=TRANSFORM, interpolation=method, variant=method)
        for method in ("bilinear", "nearest")
    ],
    "keras.ops.image.perspective_transform": [recipe(images=IMAGE, start_points=START, end_points=END)],
    "keras.ops.image.crop_images": [
        recipe(images=IMAGE, top_cropping=1, left_cropping=2, target_height=4, target_width=4)
    ],
    "keras.ops.image.pad_images": [
        recipe(images=IMAGE, top_padding=1, left_padding=1, target_height=10, target_width=10)
    ],
    "keras.ops.image.elastic_transform": [recipe(images=IMAGE, seed=1)],
    "keras.ops.image.extract_patches": [recipe(images=IMAGE, size=(2, 2))],
    "keras.ops.image.extract_patches_3d": [recipe(volumes=floats(1, 4, 4, 4, 1), size=(2, 2, 2))],
    "keras.ops.image.gaussian_blur": [recipe(images=IMAGE)],
    "keras.ops.image.hsv_to_rgb": [recipe(images=IMAGES01)],
    "keras.ops.image.rgb_to_hsv": [recipe(images=IMAGES01)],
    "keras.ops.image.rgb_to_grayscale": [recipe(images=IMAGE)],
    "keras.ops.image.sobel_edges": [recipe(images=IMAGE)],
    "keras.ops.image.map_coordinates": [
        recipe(
            inputs=floats(4, 4),
            coordinates=fixed([[0.3, 1.6, 2.2], [0.7, 1.1, 2.4]]),
            order=order,
            variant=f"order={order}",
        )
        for order in (0, 1)
    ],
    "keras.ops.image.resize": [
        recipe(images=IMAGE, size=(5, 6), interpolation=method, variant=method)
        for method in ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5")
    ],
    "keras.ops.image.scale_and_translate": [
        recipe(
            images=IMAGE,
            output_shape=(1, 8, 8, 3),
            scale=fixed([0.9, 0.8]),
            translation=fixed([0.3, 0.4]),
            spatial_dims=(1, 2),
            method="linear",
        )
    ],
    "keras.ops.image.ssim": [recipe(image1=BIG, image2=BIG)],
}
