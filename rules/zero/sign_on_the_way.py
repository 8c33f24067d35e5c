"""A sign lies on the only way to the loss.

## What it does
Finds `tf.sign` and `keras.ops.sign` where every way from a source to the target passes through one. A straight-through
estimator, and the sign of a gradient in an adversarial step, are normal and not reported.

## Why it matters
The loss is printed and looks right, and nothing is learned.

## What TensorFlow does
Unlike rounding and comparisons, which give `None`, the sign has a registered gradient, and that is zero: `fit` trains
in silence, without a warning, and no weight moves (`fixtures/GL509`).

## Example
```python
loss = tf.reduce_mean(tf.square(labels - tf.sign(scores)))
```

## Use instead
```python
loss = tf.reduce_mean(tf.square(labels - tf.tanh(scores)))
```

## Fix safety
No fix: which differentiable stand-in is right depends on the task.

## References
- [tf.sign](https://www.tensorflow.org/api_docs/python/tf/math/sign)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.knowledge.alternatives import instead_of
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL509", "sign-on-the-way", Severity.ERROR, since="0.1.0")
def sign_on_the_way(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.SATURATED:
        return None
    return Finding(
        cut.place,
        f"{starved.consequence}: the derivative of `{cut.code}` is 0",
        instead=instead_of(cut.symbol) or "a smooth stand-in such as `tf.tanh`, or a straight-through estimator",
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
