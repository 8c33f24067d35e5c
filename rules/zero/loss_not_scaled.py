"""Under mixed_float16 a custom training loop does not scale its loss.

## What it does
Finds a gradient that is asked of an unscaled loss under the policy `mixed_float16`, in a loop whose optimizer is no
`LossScaleOptimizer`.

## Why it matters
Gradients of activations are float16 numbers, of which the smallest is 6e-8: what is below half of it becomes 0. A mean
over many pixels, a small error or a loss with a small weight leads there.

## What TensorFlow does
The layers before them get exactly zero, in silence, where float32 and bfloat16 give small gradients. `compile` puts a
`LossScaleOptimizer` around the optimizer, and `fit` scales by itself. That optimizer divides every gradient by its
scale, so the loss must have been multiplied: `optimizer.scale_loss(loss)` (`fixtures/GL516`).

## Example
```python
keras.mixed_precision.set_global_policy("mixed_float16")
optimizer = keras.optimizers.Adam()
with tf.GradientTape() as tape:
    loss = loss_function(y, model(x))
gradients = tape.gradient(loss, model.trainable_variables)
```

## Use instead
```python
keras.mixed_precision.set_global_policy("mixed_float16")
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())
with tf.GradientTape() as tape:
    loss = loss_function(y, model(x))
    scaled = optimizer.scale_loss(loss)
gradients = tape.gradient(scaled, model.trainable_variables)
```

## Fix safety
No fix: the optimizer and the loss have to change together.

## References
- [Mixed precision](https://www.tensorflow.org/guide/mixed_precision)
"""

from gradlint.flow.zero_events import LossNotScaled
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL516", "loss-not-scaled", Severity.WARNING, since="0.1.0")
def loss_not_scaled(seen: LossNotScaled) -> Finding:
    return Finding(
        seen.place,
        f"gradients of activations below 3e-8 get zero: the loss of `{seen.code}` is not scaled for `{seen.policy}`",
        instead="use `keras.mixed_precision.LossScaleOptimizer` and its `scale_loss`, or the policy `mixed_bfloat16`",
        trace=seen.trace,
        verdict=Verdict.PARTIAL_ZERO,
    )
