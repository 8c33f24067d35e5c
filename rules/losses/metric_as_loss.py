"""A metric stands where `compile` takes a loss.

## What it does
Finds the name of a metric (`"accuracy"`) and a metric object (`keras.metrics.BinaryAccuracy()`) given as `loss`.
Functions that `keras.metrics` shares with `keras.losses`, such as `keras.metrics.mean_squared_error`, train and are
not reported.

## Why it matters
`compile` accepts it, and `fit` raises with a message that does not name the loss.

## What TensorFlow does
`fit` raises ValueError: "Could not interpret loss identifier" for a name; for an object "No gradients provided for
any variable", as a metric object keeps numbers that have no history. Even `keras.metrics.MeanSquaredError()` does
(`fixtures/GL514`).

## Example
```python
model.compile("adam", loss="accuracy")
```

## Use instead
```python
model.compile("adam", loss="binary_crossentropy", metrics=["accuracy"])
```

## Fix safety
No fix: which loss fits is the author's to say.

## References
- [Losses](https://keras.io/api/losses/)
- [Metrics](https://keras.io/api/metrics/)
"""

from gradlint.flow.zero_events import MetricAsLoss
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL514", "metric-as-loss", Severity.ERROR, since="0.1.0")
def metric_as_loss(seen: MetricAsLoss) -> Finding:
    return Finding(
        seen.place,
        f"`fit` raises ValueError: `{seen.metric}` is a metric, not a loss",
        instead="give a loss here, and the metric to `metrics`",
        trace=seen.trace,
        verdict=Verdict.RAISES,
        severity=None if seen.certain else Severity.WARNING,
    )
