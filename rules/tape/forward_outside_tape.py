"""The loss, or the forward pass that leads to it, is computed while its tape is not recording.

## What it does
Finds a target of `tape.gradient` (or the call of the model behind it) that is computed before the tape opens, after
it closes, in a helper or method outside it, or in the gradient call itself.

## Why it matters
Every gradient is `None`: the optimizer raises, or skips the variables with a warning, and the loop learns nothing.

## What TensorFlow does
A tape records an operation only while it is open; `tape.gradient` returns `None` for what it did not record
(`fixtures/GL101`). Tapes do not look at values afterwards.

## Example
```python
prediction = model(x)
with tf.GradientTape() as tape:
    loss = loss_fn(y, prediction)
gradients = tape.gradient(loss, model.trainable_variables)
```

## Use instead
```python
with tf.GradientTape() as tape:
    prediction = model(x)
    loss = loss_fn(y, prediction)
gradients = tape.gradient(loss, model.trainable_variables)
```

## Fix safety
No fix: moving code changes how often it runs.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import Making, Moment, SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause

_WHEN = {
    Moment.BEFORE: "before the tape opens",
    Moment.AFTER: "after the tape closed",
    Moment.RESET: "before the tape is reset, which forgets it",
}


@rule("GL101", "forward-outside-tape", Severity.ERROR, since="0.1.0")
def forward_outside_tape(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.OUTSIDE_TAPE or cut.moment not in _WHEN or starved.zero_for_unconnected:
        return None
    if (
        not cut.is_target
        and cut.moment is not Moment.RESET
        and (cut.making is not Making.FORWARD or cut.moment is Moment.AFTER)
    ):
        return None
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` is computed {_WHEN[cut.moment]}",
        instead=f"compute `{cut.code}` under `{starved.tape.name}`",
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
