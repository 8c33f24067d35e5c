"""A tensor computed from a variable before the tape opens is used under the tape.

## What it does
Finds a tensor that depends on a variable (a slice, cast, `exp`, norm ...), was computed while no tape was recording
- above the loop, in `__init__`, in `build` - and is the only way from the variable to the target.

## Why it matters
The variable is not trained through that tensor, and nothing is printed. Built lazily under the first tape it is right
in step 0 and `None` from then on.

## What TensorFlow does
`tape.gradient` returns `None`: a tape records an operation only while it is open (`fixtures/GL102`).

## Example
```python
scale = 1.0 / temperature
with tf.GradientTape() as tape:
    loss = nll(labels, logits * scale)
gradient = tape.gradient(loss, temperature)
```

## Use instead
```python
with tf.GradientTape() as tape:
    loss = nll(labels, logits / temperature)
gradient = tape.gradient(loss, temperature)
```

## Fix safety
No fix: moving code changes how often it runs.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import Making, Moment, SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL102", "derived-before-tape", Severity.ERROR, since="0.1.0")
def derived_before_tape(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.OUTSIDE_TAPE or cut.is_target or starved.zero_for_unconnected:
        return None  # the target itself: forward-outside-tape
    if cut.moment not in (Moment.BEFORE, Moment.AFTER):
        return None
    if cut.making is Making.FORWARD and cut.moment is Moment.BEFORE:
        return None
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` is computed outside the tape",
        instead=f"compute `{cut.code}` {'each time it is used' if cut.kept else f'under `{starved.tape.name}`'}",
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
