"""A crossentropy over classes meets a model with one output.

## What it does
Finds `categorical_crossentropy` and `sparse_categorical_crossentropy`, as string, object or function, with a model
whose last layer has one unit.

## Why it matters
The one class has all of the probability, so there is nothing to tell apart.

## What TensorFlow does
The sparse loss raises InvalidArgumentError for every label but 0. The other is 0 for every example: on a linear output
its gradient is zero, on a sigmoid or with `from_logits=True` it pushes the output down for label 0, and nothing pushes
it up; Keras prints a warning about the shape (`fixtures/GL524`).

## Example
```python
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", loss="categorical_crossentropy")
```

## Use instead
```python
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", loss="binary_crossentropy")
```

## Fix safety
No fix: one output for each class would do as well.

## References
- [Probabilistic losses](https://keras.io/api/losses/probabilistic_losses/)
"""

from gradlint.flow.zero_events import OneClass
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL524", "one-class", Severity.ERROR, since="0.1.0")
def one_class(seen: OneClass) -> Finding:
    if seen.sparse:
        message = f"`{seen.loss}` raises InvalidArgumentError for every label but 0: the model has one output"
    else:
        message = f"`{seen.loss}` is 0 for every example: the model has one output"
    return Finding(
        seen.place,
        message,
        instead="`binary_crossentropy` for one output with a sigmoid, or one output for each class",
        trace=seen.trace,
        verdict=Verdict.RAISES if seen.sparse else Verdict.WRONG_UPDATE,
        severity=None if seen.certain else Severity.WARNING,
    )
