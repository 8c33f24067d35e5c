"""A logarithm is taken of what reaches zero.

## What it does
Finds `tf.math.log` of a softmax, of a sigmoid or 1 minus one, and of what relu computes, unless something keeps it from
zero: a small number that is added, a clip, a maximum.

## Why it matters
Training goes well until one logit lies far from the others; then all weights are NaN within one step.

## What TensorFlow does
In float32 a softmax is exactly 0 at a gap of 90 between the logits, a sigmoid at -90, 1 minus a sigmoid at 20, and relu
for all that is negative. The logarithm is -inf then, and the gradient NaN, also where the label is 0. A clip or maximum
around the logarithm, rather than inside it, does not help (`fixtures/GL533`).

## Example
```python
probabilities = tf.nn.softmax(logits)
loss = -tf.reduce_sum(labels * tf.math.log(probabilities), axis=-1)
```

## Use instead
```python
loss = -tf.reduce_sum(labels * tf.nn.log_softmax(logits), axis=-1)
```

## Fix safety
No fix: the logits are not always at hand.

## References
- [tf.nn.log_softmax](https://www.tensorflow.org/api_docs/python/tf/nn/log_softmax)
- [tf.math.log_sigmoid](https://www.tensorflow.org/api_docs/python/tf/math/log_sigmoid)
"""

from gradlint.flow.zero_events import LogOfZero
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL533", "log-of-zero", Severity.WARNING, since="0.1.0")
def log_of_zero(seen: LogOfZero) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.argument}` gets NaN through its logarithm: {seen.why}",
        instead=f"use {seen.instead}",
        trace=seen.trace,
        verdict=Verdict.NAN,
    )
