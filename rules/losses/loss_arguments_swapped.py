"""A loss is called with the prediction first and the target second.

## What it does
Finds calls of losses of Keras that give the prediction where the target belongs, for losses to which the order
matters: crossentropies, divergences, Poisson, the categorical hinge. Squared and absolute errors are the same both ways
and not reported.

## Why it matters
The loss takes the logarithm of the target. It falls and the model learns something, only not by the loss that is
written there.

## What TensorFlow does
The logarithm of a label 0 is clipped at about -16. So `binary_crossentropy` and `categorical_crossentropy` of 0/1
labels become 16 times the absolute error; with `from_logits=True` the loss is linear in the logits and has no minimum;
a divergence becomes the reverse one; `sparse_categorical_crossentropy` raises ValueError (`fixtures/GL512`).

## Example
```python
loss = keras.losses.binary_crossentropy(model(x), y)
```

## Use instead
```python
loss = keras.losses.binary_crossentropy(y, model(x))
```

## Fix safety
No fix yet.

## References
- [Losses](https://keras.io/api/losses/)
"""

from gradlint.flow.zero_events import LossArgumentsSwapped
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL512", "loss-arguments-swapped", Severity.ERROR, since="0.1.0")
def loss_arguments_swapped(seen: LossArgumentsSwapped) -> Finding:
    raises = "sparse" in seen.function.lower()
    consequence = "raises ValueError" if raises else f"trains `{seen.prediction}` as the target"
    by_name = ", by its name the target," if seen.by_name else ""
    return Finding(
        seen.place,
        f"`{seen.function}` {consequence}: it takes the target first, and `{seen.target}`{by_name} stands second",
        instead=f"give `{seen.target}` first, and `{seen.prediction}` second",
        trace=seen.trace,
        verdict=Verdict.RAISES if raises else Verdict.WRONG_UPDATE,
        severity=None if seen.certain else Severity.WARNING,
    )
