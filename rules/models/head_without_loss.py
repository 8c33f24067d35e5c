"""An output of a model has no loss.

## What it does
Finds a layer that computes an output of a functional model with several outputs, and nothing else, where `compile`
gives that output no loss, `None`, or a loss with the weight 0.

## Why it matters
The layer stays as it was initialised, and its output looks like any other.

## What TensorFlow does
Without a loss its variables get `None`, and `fit` warns "Gradients do not exist for variables". With the weight 0 they
get zeros, and nothing is printed. A list of losses that is too short counts as `None` at the end. A dict of losses that
leaves out an output does so for a model with a dict of outputs; for one with a list of outputs `fit` raises
ValueError (`fixtures/GL603`).

## Example
```python
model = keras.Model(inputs, {"price": price, "demand": demand})
model.compile("adam", loss={"price": "mse"})
```

## Use instead
```python
model = keras.Model(inputs, {"price": price, "demand": demand})
model.compile("adam", loss={"price": "mse", "demand": "mse"})
```

## Fix safety
No fix: which loss is right depends on the output.

## References
- [The compile method](https://keras.io/api/models/model_training_apis/)
"""

from gradlint.flow.model_events import HeadWithoutLoss
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL603", "head-without-loss", Severity.WARNING, since="0.1.0")
def head_without_loss(seen: HeadWithoutLoss) -> Finding:
    if seen.weighted_zero:
        message = f"`{seen.head}` gets zero: `compile` gives the loss of its output the weight 0"
    else:
        message = f"`{seen.head}` is never trained: `compile` gives its output no loss"
    return Finding(
        seen.place,
        message,
        instead="give each output a loss and a weight above 0, or leave this output out of the model that is trained",
        trace=seen.trace,
        verdict=Verdict.ZERO if seen.weighted_zero else Verdict.NEVER_UPDATED,
        variables=(seen.head,),
    )
