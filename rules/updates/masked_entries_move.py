"""An optimizer moves entries whose gradient is zero.

## What it does
Finds a gradient that is multiplied by a constant mask of zeros and ones and applied by an optimizer that moves such
entries: through weight decay, a constraint of the variable, or by its very rule (Ftrl). Silent where the variable is
written after the update (a mask on the weights), and where `exclude_from_weight_decay` was called.

## Why it matters
*Optimizers applied to unmasked variables*: the mask is on the gradient, the optimizer moves the variable. Entries
that are meant to stay drift, a little in each step.

## What TensorFlow does
Measured for every optimizer that Keras and tf_keras ship (`gradlint/knowledge/measured_optimizers.json`): with a mask
from the first step weight decay (AdamW has 0.004 unless told), Ftrl and constraints move masked entries; SGD,
momentum, Adam, RMSprop, Adagrad, Adadelta, Adafactor and Lion do not (`fixtures/GL406`).

## Example
```python
optimizer = keras.optimizers.AdamW(1e-3)
optimizer.apply_gradients([(gradient * mask, weights)])
```

## Use instead
```python
optimizer = keras.optimizers.AdamW(1e-3, weight_decay=0.0)
optimizer.apply_gradients([(gradient * mask, weights)])
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
- [AdamW](https://keras.io/api/optimizers/adamw/)
"""

from gradlint.flow.update_events import MaskedMoved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL406", "masked-entries-move", Severity.ERROR, since="0.1.0")
def masked_entries_move(seen: MaskedMoved) -> Finding:
    features = " and ".join(_WORDS.get(each, f"`{each}`") for each in seen.features)
    return Finding(
        seen.place,
        f"masked entries of `{seen.variable}` move: {features} of `{seen.optimizer}` {_verb(seen)} them",
        instead="write the masked entries back after each update, or use an optimizer without it",
        trace=seen.trace,
        verdict=Verdict.FROZEN_MOVED,
        variables=(seen.variable,),
        severity=None if seen.certain else Severity.WARNING,
    )


_WORDS = {"weight_decay": "the weight decay", "default": "the rule", "constraint": "the constraint under an update"}


def _verb(seen: MaskedMoved) -> str:
    return "move" if len(seen.features) > 1 else "moves"
