"""An inverse function is taken at the border of its range, where its derivative is infinite.

## What it does
Finds `acos`, `asin`, `atanh` and `acosh` of what is clipped to exactly 1 or -1, and of a cosine of normalised vectors,
which is 1 for parallel ones.

## Why it matters
The clip looks like the guard against NaN and lets the border through: once a prediction is exactly right, all weights
are NaN.

## What TensorFlow does
The gradient of `tf.acos` at 1 is -inf, also behind a clip to 1, which passes gradients at its bounds. One factor 0
further back makes it NaN (`fixtures/GL537`).

## Example
```python
angle = tf.acos(tf.clip_by_value(cosine, -1.0, 1.0))
```

## Use instead
```python
angle = tf.acos(tf.clip_by_value(cosine, -1.0 + 1e-6, 1.0 - 1e-6))
```

## Fix safety
No fix: `tf.atan2` of sine and cosine is better where both are at hand.

## References
- [tf.math.acos](https://www.tensorflow.org/api_docs/python/tf/math/acos)
- [tf.math.atan2](https://www.tensorflow.org/api_docs/python/tf/math/atan2)
"""

from gradlint.flow.zero_events import ArcAtBorder
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL537", "arc-at-border", Severity.WARNING, since="0.1.0")
def arc_at_border(seen: ArcAtBorder) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.argument}` gets an infinite gradient at the border of `{seen.function}`: {seen.why}",
        instead="clip to a little inside of the border, or use `tf.atan2`",
        trace=seen.trace,
        verdict=Verdict.NAN,
    )
