"""`tape.watch` comes after the operation that should have been recorded.

## What it does
Finds a `tape.watch(x)` that stands after everything that used `x`.

## Why it matters
The gradient is `None` although the tensor is watched.

## What TensorFlow does
An operation is recorded when one of its inputs is watched at that moment; a later watch does not reach back. A late
watch does work for an operation that was recorded anyway because it also read a variable (`fixtures/GL105`).

## Example
```python
with tf.GradientTape() as tape:
    z = (x - mean) / std
    tape.watch(x)
    loss = loss_fn(y, model(z))
gradient = tape.gradient(loss, x)
```

## Use instead
```python
with tf.GradientTape() as tape:
    tape.watch(x)
    z = (x - mean) / std
    loss = loss_fn(y, model(z))
gradient = tape.gradient(loss, x)
```

## Fix safety
No fix yet: the first use has to be known.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL105", "watch-after-use", Severity.ERROR, since="0.1.0")
def watch_after_use(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    watched_at = starved.sources[0].watched_at
    if cut.cause is not Cause.NOT_WATCHED or watched_at is None or starved.zero_for_unconnected:
        return None
    return Finding(
        watched_at,
        f"{starved.consequence}: it is watched after it is used",
        instead=f"watch `{starved.sources[0].name}` before its first use",
        trace=starved.trace,
        severity=Severity.WARNING if starved.cut.assumed else None,
    )
