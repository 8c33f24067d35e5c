"""The last activation of a regression is relu.

## What it does
Finds a model that ends in relu under a loss of regression (`mse`, `mae` ...). It is a warning where the targets are
known to be negative in part, and a hint elsewhere.

## Why it matters
Relu computes no number below 0: negative targets are never reached. An example for which it is 0 does not teach.

## What TensorFlow does
The predictions stop at 0, and nothing is printed. Where relu is 0 for all examples every gradient is exactly zero, and
training has ended (`fixtures/GL505`).

## Example
```python
targets = np.array([[-4.0], [-2.0], [2.0]])
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, activation="relu")])
model.compile("adam", "mse")
```

## Use instead
```python
targets = np.array([[-4.0], [-2.0], [2.0]])
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
```

## Fix safety
No fix: a model of counts or prices may end in relu by intention.

## References
- [Activations](https://keras.io/api/layers/activations/)
"""

from gradlint.flow.zero_events import ReluOnOutput
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL505", "relu-on-output", Severity.WARNING, since="0.1.0")
def relu_on_output(seen: ReluOnOutput) -> Finding:
    return Finding(
        seen.place,
        f"targets below 0 are never reached under `{seen.loss}`: {seen.activation} ends the model",
        instead="end the model without an activation, or, for positive targets, with softplus",
        trace=seen.trace,
        verdict=Verdict.PARTIAL_ZERO,
        severity=None if seen.certain else Severity.INFO,
    )
