"""The bounds of a clip leave out all that it is given.

## What it does
Finds `tf.clip_by_value`, `keras.ops.clip`, `minimum` and `maximum` whose bounds lie outside the range of what they are
given: a sigmoid clipped to 2 to 3, a softplus clipped to -5 to 0. As a warning, also the output of a layer whose bias
starts far outside the bounds.

## Why it matters
The result is a bound for every example, and nothing before the clip learns.

## What TensorFlow does
The gradient outside the bounds is exactly zero, in silence (`fixtures/GL506`).

## Example
```python
temperature = tf.clip_by_value(tf.sigmoid(x), 2.0, 3.0)
```

## Use instead
```python
temperature = 2.0 + tf.sigmoid(x)
```

## Fix safety
No fix: the bounds or what is clipped can be what is wrong.

## References
- [tf.clip_by_value](https://www.tensorflow.org/api_docs/python/tf/clip_by_value)
"""

from gradlint.flow.zero_events import ClipSaturated
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL506", "saturated-clip", Severity.ERROR, since="0.1.0")
def saturated_clip(seen: ClipSaturated) -> Finding:
    return Finding(
        seen.place,
        f"everything before `{seen.code}` gets zero: `{seen.function}` is given {seen.given}, and keeps {seen.bounds}",
        instead="choose bounds inside the range of what is clipped, or bring it into the bounds by a sigmoid",
        trace=seen.trace,
        verdict=Verdict.ZERO,
        severity=None if seen.certain else Severity.WARNING,
    )
