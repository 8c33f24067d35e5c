"""A needed part of the computation runs under `tape.stop_recording()`.

## What it does
Finds an operation on the only way from a source to the target that is computed while recording is stopped.

## Why it matters
The gradient is `None`.

## What TensorFlow does
A tape that was told to stop does not record (`fixtures/GL114`).

## Example
```python
with tf.GradientTape() as tape:
    with tape.stop_recording():
        features = encoder(x)
    loss = loss_fn(y, head(features))
gradients = tape.gradient(loss, encoder.trainable_variables)
```

## Use instead
```python
with tf.GradientTape() as tape:
    features = encoder(x)
    loss = loss_fn(y, head(features))
gradients = tape.gradient(loss, encoder.trainable_variables)
```

## Fix safety
No fix: moving code changes how often it runs.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import Moment, SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL114", "recording-stopped", Severity.ERROR, since="0.1.0")
def recording_stopped(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.moment is not Moment.PAUSED or cut.cause is not Cause.OUTSIDE_TAPE or starved.zero_for_unconnected:
        return None
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` is computed while `{starved.tape.name}` is told not to record",
        instead=f"compute `{cut.code}` outside the `stop_recording` block",
        trace=starved.trace,
        severity=Severity.WARNING if starved.cut.assumed else None,
    )
