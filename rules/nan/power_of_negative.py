"""What is negative is raised to a fraction.

## What it does
Finds powers with a fraction as exponent, and square roots, of what a linear layer or tanh computes.

## Why it matters
A gamma curve or a root at the end of a network is NaN for the first output below zero.

## What TensorFlow does
The power of a negative number with a fraction is NaN, and so is the gradient; at 0 the gradient of an exponent below 1
is infinite. Integer exponents, also written `2.0`, are fine (`fixtures/GL536`).

## Example
```python
light = keras.layers.Dense(3)(x)
shown = tf.pow(light, 1 / 2.2)
```

## Use instead
```python
light = keras.layers.Dense(3)(x)
shown = tf.pow(tf.nn.relu(light) + 1e-6, 1 / 2.2)
```

## Fix safety
No fix: what a negative number stands for is the author's to say.

## References
- [tf.math.pow](https://www.tensorflow.org/api_docs/python/tf/math/pow)
"""

from gradlint.flow.zero_events import PowerOfNegative
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL536", "power-of-negative", Severity.ERROR, since="0.1.0")
def power_of_negative(seen: PowerOfNegative) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.base}` gets NaN where it is negative: it is raised to {seen.exponent}, and {seen.why}",
        instead="raise what is positive: a relu, softplus or absolute value, plus a small number",
        trace=seen.trace,
        verdict=Verdict.NAN,
        severity=None if seen.certain else Severity.WARNING,
    )
