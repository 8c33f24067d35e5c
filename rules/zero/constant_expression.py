"""An expression on the only way to the loss is constant.

## What it does
Finds what has the same value whatever it is computed from: `x - x`, `x / x`, the sum or the mean of a softmax over its
classes, where every way from a source to the target passes through it.

## Why it matters
The loss does not depend on the weights, and nothing is learned.

## What TensorFlow does
The gradient is exactly zero, or rounding noise: 1e-8 for the mean of a softmax. It is not `None`, and nothing is
printed (`fixtures/GL508`).

## Example
```python
probabilities = tf.nn.softmax(logits)
loss = -tf.reduce_mean(tf.reduce_mean(probabilities, axis=-1))
```

## Use instead
```python
probabilities = tf.nn.softmax(logits)
loss = -tf.reduce_mean(tf.reduce_sum(labels * probabilities, axis=-1))
```

## Fix safety
No fix: what the expression should be is the author's to say.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL508", "constant-expression", Severity.ERROR, since="0.1.0")
def constant_expression(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.CONSTANT or cut.symbol == "*" or cut.symbol.endswith(".multiply"):
        return None  # multiplied-by-zero
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` is constant, whatever it is computed from",
        instead="write an expression that depends on the weights",
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
