"""A loss reads some columns of the prediction, and no other.

## What it does
Finds a loss given to `compile` that reads the prediction only through an index such as `y_pred[:, 0]`, where the model
predicts more columns than that.

## Why it matters
What the other columns predict is never trained, and looks like a prediction.

## What TensorFlow does
The weights of the other columns get exactly zero and keep their first values; nothing is printed (`fixtures/GL511`).

## Example
```python
def error(y_true, y_pred):
    return tf.square(y_true[:, 0] - y_pred[:, 0])


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
model.compile("adam", loss=error)
```

## Use instead
```python
def error(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)
```

## Fix safety
No fix: the loss, or the number of columns, is wrong.

## References
- [Losses](https://keras.io/api/losses/)
"""

from gradlint.flow.zero_events import PredictionReadInPart
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL511", "prediction-read-in-part", Severity.ERROR, since="0.1.0")
def prediction_read_in_part(seen: PredictionReadInPart) -> Finding:
    return Finding(
        seen.place,
        f"every other column of the prediction gets zero: the loss reads {seen.read} of {seen.width}",
        instead="read every column in the loss, or let the model predict only what the loss reads",
        trace=seen.trace,
        verdict=Verdict.PARTIAL_ZERO,
        severity=None if seen.certain else Severity.WARNING,
    )
