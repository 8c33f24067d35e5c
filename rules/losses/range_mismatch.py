"""The last activation computes numbers that the loss or the targets do not go with.

## What it does
Finds tanh, relu and the like in front of a crossentropy; linear and tanh outputs in front of a loss that takes their
logarithm (Poisson, the squared logarithmic error, a divergence); and targets, known from literals, that a sigmoid,
tanh or softmax cannot reach.

## Why it matters
Nothing is raised, and some of the outputs are not trained, or trained the wrong way.

## What TensorFlow does
A binary crossentropy clips the outputs to 0..1, and the logarithmic error and divergences take negative ones for 0:
those outside get exactly zero. `categorical_crossentropy` divides by the sum first, whatever its sign. The Poisson loss
of a negative output is NaN, while its gradient is finite and draws the output further down. For labels outside 0 to 1
a binary crossentropy has no minimum; a regression on targets out of range saturates (`fixtures/GL525`).

## Example
```python
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, activation="tanh")])
model.compile("adam", loss="binary_crossentropy")
```

## Use instead
```python
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", loss="binary_crossentropy")
```

## Fix safety
No fix: the activation, the loss or the targets can be changed.

## References
- [Losses](https://keras.io/api/losses/)
- [Activations](https://keras.io/api/layers/activations/)
"""

from gradlint.flow.zero_events import RangeMismatch
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL525", "range-mismatch", Severity.WARNING, since="0.1.0")
def range_mismatch(seen: RangeMismatch) -> Finding:
    consequence, verdict = _consequence(seen.loss.lower().replace("_", ""), seen.activation)
    return Finding(
        seen.place,
        f"{consequence}: {seen.why}",
        instead="an activation whose range fits the loss and the targets",
        trace=seen.trace,
        verdict=verdict,
    )


def _consequence(loss: str, activation: str) -> tuple[str, Verdict]:
    if "poisson" in loss:
        return "the loss is NaN for a negative output", Verdict.WRONG_UPDATE
    if any(name in loss for name in ("logarithmic", "msle", "divergence", "kld")):
        return "a negative output gets zero", Verdict.PARTIAL_ZERO
    if not any(name in loss for name in ("crossentropy", "bce")):
        return "the output saturates", Verdict.WRONG_UPDATE
    if activation in ("sigmoid", "softmax"):
        return "the loss has no minimum", Verdict.WRONG_UPDATE
    if "categorical" in loss and "sparse" not in loss:
        return "the outputs are divided by their sum, whatever its sign", Verdict.WRONG_UPDATE
    return "an output outside 0 to 1 gets zero", Verdict.PARTIAL_ZERO
