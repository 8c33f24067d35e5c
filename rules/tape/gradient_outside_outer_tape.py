"""A second derivative is asked, but the first was taken outside the outer tape.

## What it does
Finds an inner gradient call that stands outside the block of the outer tape which is asked to differentiate it.

## Why it matters
The second derivative is `None`: to the outer tape the first derivative is a constant.

## What TensorFlow does
A gradient call is an operation like any other: only tapes that are open at that moment record it (`fixtures/GL115`).

## Example
```python
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = f(x)
dy = inner.gradient(y, x)
d2y = outer.gradient(dy, x)
```

## Use instead
```python
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = f(x)
    dy = inner.gradient(y, x)
d2y = outer.gradient(dy, x)
```

## Fix safety
No fix: moving code changes how often it runs.

## References
- [Advanced automatic differentiation](https://www.tensorflow.org/guide/advanced_autodiff)
"""

from gradlint.flow.events import Moment, SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL115", "gradient-outside-outer-tape", Severity.ERROR, since="0.1.0")
def gradient_outside_outer_tape(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.moment is not Moment.GRADIENT or cut.cause is not Cause.OUTSIDE_TAPE:
        return None
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` is asked outside `{starved.tape.name}`",
        instead=f"ask the first derivative under `{starved.tape.name}`",
        trace=starved.trace,
        severity=Severity.WARNING if starved.cut.assumed else None,
    )
