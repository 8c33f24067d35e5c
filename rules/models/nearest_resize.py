"""An image that is optimised is made smaller by picking single pixels.

## What it does
Finds `tf.image.resize` and its likes with `nearest`, to a smaller size, on the way from an image that is a variable to
the loss.

## Why it matters
The pixels that are not picked never change: the image comes out as a grid of points.

## What TensorFlow does
From 4x4 to 2x2 four of sixteen pixels get a gradient, the others get zero. To a larger size each pixel gets one.
`bilinear` reads all pixels down to half the size; for less it needs `antialias=True` (from 8x8 to 2x2: 16 of 64 without
it). `area` has no gradient and raises LookupError (`fixtures/GL612`).

## Example
```python
small = tf.image.resize(image, (16, 16), method="nearest")
```

## Use instead
```python
small = tf.image.resize(image, (16, 16), method="bilinear", antialias=True)
```

## Fix safety
No fix yet.

## References
- [tf.image.resize](https://www.tensorflow.org/api_docs/python/tf/image/resize)
"""

from gradlint.flow.model_events import NearestResized
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL612", "nearest-resize", Severity.WARNING, since="0.1.0")
def nearest_resize(seen: NearestResized) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.image}` gets zero in part: resizing it by `nearest` picks single pixels",
        instead="resize by `bilinear` with `antialias=True`",
        trace=seen.trace,
        verdict=Verdict.PARTIAL_ZERO,
        variables=(seen.image,),
    )
