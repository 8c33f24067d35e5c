"""A list of variables holds those of a frozen layer, and all of it is trained.

## What it does
Finds an optimizer that is given a list which was read before a layer was frozen (or unfrozen), what
`tape.watched_variables()` returns, or `variables` and `weights` of a model with a frozen layer.

## Why it matters
The layer is trained all the same. Nothing is raised.

## What TensorFlow does
Only the properties `trainable_variables` and `trainable_weights` ask `trainable`, and only at the moment when they
are read. Gradients of frozen layers are not None: the tape watches their variables, and the optimizer moves what it
is given (`fixtures/GL422`).

## Example
```python
variables = backbone.trainable_variables + head.trainable_variables
backbone.trainable = False
gradients = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(gradients, variables))
```

## Use instead
```python
backbone.trainable = False
variables = backbone.trainable_variables + head.trainable_variables
```

## Fix safety
No fix yet.

## References
- [Transfer learning](https://keras.io/guides/transfer_learning/)
"""

from gradlint.flow.update_events import Freezing, FreezingIgnored
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL422", "frozen-variables-listed", Severity.WARNING, since="0.1.0")
def frozen_variables_listed(seen: FreezingIgnored) -> Finding | None:
    if seen.freezing not in _WORDS:
        return None
    state = "frozen and trained all the same" if seen.frozen else "not frozen any more, and not trained"
    return Finding(
        seen.place,
        f"`{seen.layer}` is {state}: {_WORDS[seen.freezing].format(seen.detail)}",
        instead="read `trainable_variables` anew, after `trainable` is set",
        trace=seen.trace,
        verdict=Verdict.FROZEN_MOVED if seen.frozen else Verdict.NEVER_UPDATED,
        variables=(seen.layer,),
    )


_WORDS = {
    Freezing.CAPTURED: "`{}` was read before",
    Freezing.WATCHED: "`{}` does not ask `trainable`",
    Freezing.EVERY: "`{}` holds every variable, trainable or not",
}
