"""A gradient of a smaller shape than its variable is applied.

## What it does
Finds pairs for an optimizer whose shapes are known, differ, and would broadcast.

## Why it matters
Most optimizers take the smaller gradient for every row, in silence: all rows move alike. The others raise.

## What TensorFlow does
Adam, RMSprop, Nadam and most others broadcast; SGD, Adagrad and Adafactor raise (the table is measured:
`tools/measure_optimizers.py`) (`fixtures/GL405`).

## Example
```python
optimizer.apply_gradients([(tf.reduce_mean(gradient, axis=0), kernel)])
```

## Use instead
```python
optimizer.apply_gradients([(gradient, kernel)])
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import GradientBroadcast
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL405", "gradient-shape", Severity.ERROR, since="0.1.0")
def gradient_shape(seen: GradientBroadcast) -> Finding:
    if seen.raises:
        message = f"`{seen.optimizer}` raises: the gradient is {seen.gradient_shape}, `{seen.variable}` is {seen.shape}"
    else:
        message = (
            f"`{seen.optimizer}` applies a gradient of shape {seen.gradient_shape} to each row of `{seen.variable}`, "
            f"which is {seen.shape}"
        )
    return Finding(
        seen.place,
        message,
        instead="apply the gradient of the shape that the tape returned",
        trace=seen.trace,
        verdict=Verdict.RAISES if seen.raises else Verdict.WRONG_UPDATE,
        variables=(seen.variable,),
        severity=None if seen.certain else Severity.WARNING,
    )
