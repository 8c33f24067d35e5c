"""A float or integer tensor times a boolean tensor, which is a boolean tensor.

## What it does
Finds `values * mask` and `mask * values` where the mask is a boolean tensor and the values are numbers.

## Why it matters
Every value becomes True or False: a masked loss becomes a count, a masked gradient loses its sign and size.

## What TensorFlow does
The operator `*` casts both sides to int32, multiplies, and returns booleans, without an error and without a gradient;
what follows mostly raises (`reduce_sum` of booleans). `tf.multiply` raises at once. NumPy masks, Python lists and
`keras.ops.multiply` do what one expects (`fixtures/GL210`).

## Example
```python
keep = tf.not_equal(labels, 0)
loss = tf.reduce_sum(per_token * keep)
```

## Use instead
```python
keep = tf.cast(tf.not_equal(labels, 0), per_token.dtype)
loss = tf.reduce_sum(per_token * keep)
```

## Fix safety
No fix yet.

## References
- [The change that gave booleans a `*`](https://github.com/tensorflow/tensorflow/pull/83753)
"""

from gradlint.flow.events import BooleanProduct
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL210", "boolean-product", Severity.ERROR, since="0.1.0")
def boolean_product(product: BooleanProduct) -> Finding:
    return Finding(
        product.place,
        f"`{product.code}` is boolean, as `{product.mask}` is: values and gradients are lost",
        instead=f"cast the mask first: `tf.cast({product.mask}, tf.float32)`",
        trace=product.trace,
        cause=Cause.INTEGER,
    )
