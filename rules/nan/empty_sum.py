"""A loss is divided by a sum or count that can be zero.

## What it does
Finds a division by the sum or count of a mask that a comparison of data makes, without a guard: `tf.maximum(count, 1)`,
a small number that is added, `tf.math.divide_no_nan`.

## Why it matters
One batch in which nothing passes the comparison is enough: the loss and all weights are NaN from then on.

## What TensorFlow does
0 divided by 0 is NaN, and so is its gradient (`fixtures/GL535`).

## Example
```python
mask = tf.cast(labels >= 0.0, tf.float32)
loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)
```

## Use instead
```python
mask = tf.cast(labels >= 0.0, tf.float32)
loss = tf.reduce_sum(losses * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)
```

## Fix safety
No fix yet.

## References
- [tf.math.divide_no_nan](https://www.tensorflow.org/api_docs/python/tf/math/divide_no_nan)
"""

from gradlint.flow.zero_events import EmptySum
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL535", "empty-sum", Severity.WARNING, since="0.1.0")
def empty_sum(seen: EmptySum) -> Finding:
    return Finding(
        seen.place,
        f"what lies behind the quotient gets NaN where `{seen.divisor}` is zero: {seen.why}",
        instead=f"divide by `tf.maximum({seen.divisor}, 1.0)`, or use `tf.math.divide_no_nan`",
        trace=seen.trace,
        verdict=Verdict.NAN,
    )
