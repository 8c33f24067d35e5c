"""A linear output meets a crossentropy that takes probabilities.

## What it does
Finds a last layer without an activation whose output is given to a crossentropy without `from_logits=True`.

## Why it matters
Nothing is raised, and the model often learns a little by chance.

## What TensorFlow does
`binary_crossentropy` and `sparse_categorical_crossentropy` clip the outputs to 0..1: those outside get exactly zero,
right or wrong. `categorical_crossentropy` divides them by their sum first, which turns their order round where the sum
is negative, and clips the quotients (`fixtures/GL521`).

## Example
```python
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", loss="binary_crossentropy")
```

## Use instead
```python
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", loss=keras.losses.BinaryCrossentropy(from_logits=True))
```

## Fix safety
No fix: an activation in the model would do as well.

## References
- [Probabilistic losses](https://keras.io/api/losses/probabilistic_losses/)
"""

from gradlint.flow.zero_events import LogitsAsProbabilities
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL521", "logits-as-probabilities", Severity.ERROR, since="0.1.0")
def logits_as_probabilities(seen: LogitsAsProbabilities) -> Finding:
    divided = "ategorical" in seen.loss and not seen.sparse
    outside = "where logits over their sum are outside 0 to 1" if divided else "outside 0 to 1"
    return Finding(
        seen.place,
        f"`{seen.output}` gets zero {outside}: `{seen.loss}` takes its logits for probabilities",
        instead="tell the loss: `from_logits=True`, or end the model in a sigmoid or softmax",
        trace=seen.trace,
        verdict=Verdict.PARTIAL_ZERO,
        severity=None if seen.certain else Severity.WARNING,
    )
