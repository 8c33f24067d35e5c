"""`trainable` is set after a graph was made, and the graph goes on as before.

## What it does
Finds `layer.trainable = ...` between two calls of the same tf.function, between two calls of `fit` without `compile`,
and in a callback while `fit` runs.

## Why it matters
The layer goes on being trained, or goes on being left out. Nothing is raised.

## What TensorFlow does
The list of variables is in the graph as it was when the graph was made: by the first call of a tf.function, by the
first batch of `fit` or `train_on_batch` after `compile` (`fixtures/GL421`).

## Example
```python
model.fit(data, labels)
backbone.trainable = False
model.fit(data, labels)
```

## Use instead
```python
model.fit(data, labels)
backbone.trainable = False
model.compile("adam", "mse")
model.fit(data, labels)
```

## Fix safety
No fix yet.

## References
- [Transfer learning](https://keras.io/guides/transfer_learning/)
- [tf.function](https://www.tensorflow.org/guide/function)
"""

from gradlint.flow.update_events import Freezing, FreezingIgnored
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL421", "trainable-set-too-late", Severity.ERROR, since="0.1.0")
def trainable_set_too_late(seen: FreezingIgnored) -> Finding | None:
    if seen.freezing not in _WORDS:
        return None
    after, instead = _WORDS[seen.freezing]
    goes_on = "is trained all the same" if seen.frozen else "stays frozen"
    return Finding(
        seen.place,
        f"`{seen.layer}` {goes_on}: its `trainable` is set {after.format(seen.detail)}",
        instead=instead,
        trace=seen.trace,
        verdict=Verdict.FROZEN_MOVED if seen.frozen else Verdict.NEVER_UPDATED,
        variables=(seen.layer,),
        severity=None if seen.certain else Severity.WARNING,
    )


_WORDS = {
    Freezing.TRACED: ("after `{}` was traced", "make a new tf.function, or set it before the first call"),
    Freezing.FITTED: ("after `{}` was fitted", "compile the model again, with a new optimizer"),
    Freezing.CALLBACK: ("in `{}`, while `fit` runs", "set it between two calls of `fit`, and compile in between"),
}
