"""An exponential overflows inside a formula that TensorFlow has a stable function for.

## What it does
Finds softplus, logsumexp, softmax and sigmoid written out: `log(1 + exp(x))`, `log(sum(exp(x)))`,
`exp(x) / sum(exp(x))`, `1 / (1 + exp(-x))`. Silent where the maximum is subtracted first, and for `exp(-abs(x))`.

## Why it matters
Training goes well until one number is large; then all weights are NaN within one step.

## What TensorFlow does
`tf.exp` is infinite above 88.7 in float32. Softplus and logsumexp are infinite then, softmax is NaN, the sigmoid is
right; the gradient is NaN for all four (`fixtures/GL534`).

## Example
```python
loss = tf.reduce_mean(tf.math.log(1.0 + tf.exp(scores)))
```

## Use instead
```python
loss = tf.reduce_mean(tf.nn.softplus(scores))
```

## Fix safety
No fix yet.

## References
- [tf.nn.softplus](https://www.tensorflow.org/api_docs/python/tf/nn/softplus)
- [tf.reduce_logsumexp](https://www.tensorflow.org/api_docs/python/tf/math/reduce_logsumexp)
"""

from gradlint.flow.zero_events import ExpOverflow
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL534", "exp-overflow", Severity.WARNING, since="0.1.0")
def exp_overflow(seen: ExpOverflow) -> Finding:
    return Finding(
        seen.place,
        f"a {seen.form} written out gets NaN where its exponent is above 88: the exponential overflows in float32",
        instead=f"use {seen.instead}",
        trace=seen.trace,
        verdict=Verdict.NAN,
    )
