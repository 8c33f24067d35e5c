"""Entries are masked from some step on, and the optimizer goes on moving them.

## What it does
Finds a mask that begins after unmasked updates of the same variable by the same optimizer, that depends on the number
of steps, or that is computed from the variable in each step (pruning), where the optimizer remembers earlier
gradients: momentum, Adam-like moments, moving averages that overwrite, accumulated gradients. Silent where the
variable is written after the update.

## Why it matters
The moments of the steps before the mask move the entries for a long time after it.

## What TensorFlow does
Measured for every optimizer that Keras and tf_keras ship (`gradlint/knowledge/measured_optimizers.json`): after three
unmasked steps Adam, AdamW, Nadam, Lion, Lamb and momentum move masked entries (Lion without end); plain SGD, RMSprop,
Adagrad, Adadelta and Adafactor do not (`fixtures/GL407`).

## Example
```python
mask = ones if epoch < 5 else pruned
adam.apply_gradients([(gradient * mask, kernel)])
```

## Use instead
```python
mask = ones if epoch < 5 else pruned
adam.apply_gradients([(gradient * mask, kernel)])
kernel.assign(kernel * mask + kept * (1 - mask))
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import LateMaskMoved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL407", "late-mask", Severity.ERROR, since="0.1.0")
def late_mask(seen: LateMaskMoved) -> Finding:
    why = "is computed anew in each step" if seen.changes else "begins after unmasked steps"
    features = ", ".join(_WORDS.get(each, f"`{each}`") for each in seen.features)
    return Finding(
        seen.place,
        f"masked entries of `{seen.variable}` move: the mask {why}, and `{seen.optimizer}` remembers ({features})",
        instead="write the masked entries back after each update, or make a new optimizer when the mask begins",
        trace=seen.trace,
        verdict=Verdict.FROZEN_MOVED,
        variables=(seen.variable,),
        severity=None if seen.certain else Severity.WARNING,
    )


_WORDS = {"weight_decay": "weight decay", "moments": "moments", "use_ema": "moving average", "default": "its rule"}
