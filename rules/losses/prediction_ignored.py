"""A loss never reads what the model predicts.

## What it does
Finds a loss function, and the `call` of a loss class, whose value does not depend on its second argument: the target
is used twice, or a name from elsewhere is read. A loss that reads only the prediction is normal and not reported.

## Why it matters
The loss is a constant as far as the model is concerned: there is nothing to learn from it.

## What TensorFlow does
Every weight gets `None`; `fit` raises ValueError "No gradients provided for any variable" (`fixtures/GL510`).

## Example
```python
def spread(y_true, y_pred):
    return tf.square(y_true - tf.reduce_mean(y_true))
```

## Use instead
```python
def spread(y_true, y_pred):
    return tf.square(y_true - y_pred)
```

## Fix safety
No fix: what the loss is to compare is the author's to say.

## References
- [Losses](https://keras.io/api/losses/)
"""

from gradlint.flow.zero_events import PredictionIgnored
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL510", "prediction-ignored", Severity.ERROR, since="0.1.0")
def prediction_ignored(seen: PredictionIgnored) -> Finding:
    consequence = "`fit` raises ValueError" if seen.compiled else "every weight gets None"
    if seen.target:
        consequence = f"this term of `{seen.target}` moves nothing"
    return Finding(
        seen.place,
        f"{consequence}: `{seen.loss}` never reads `{seen.parameter}`",
        instead=f"compute the loss from `{seen.parameter}`",
        trace=seen.trace,
        verdict=Verdict.RAISES if seen.compiled else Verdict.WRONG_UPDATE if seen.target else Verdict.NONE,
        severity=None if seen.certain else Severity.WARNING,
    )
