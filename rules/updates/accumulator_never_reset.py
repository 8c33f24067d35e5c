"""Gradients are accumulated in variables, applied, and never set back to zero.

## What it does
Finds variables to which gradients are added by `assign_add`, which are given to an optimizer as gradients, and to
which nothing else is ever assigned; and sums of gradients in which those that an earlier update applied still stand.

## Why it matters
Every update repeats all gradients since the start.

## What TensorFlow does
`assign_add` adds to what is there; `apply_gradients` leaves the accumulators as they are (`fixtures/GL437`).

## Example
```python
accumulator.assign_add(gradient)
optimizer.apply_gradients([(accumulator, weights)])
```

## Use instead
```python
optimizer.apply_gradients([(accumulator, weights)])
accumulator.assign(tf.zeros_like(accumulator))
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import NeverReset
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL437", "accumulator-never-reset", Severity.WARNING, since="0.1.0")
def accumulator_never_reset(seen: NeverReset) -> Finding:
    subject = f"`{seen.accumulator}`" if seen.accumulator.isidentifier() else f"the sum in `{seen.accumulator}`"
    return Finding(
        seen.place,
        f"{subject} is never set back to zero: each update repeats all gradients before it",
        instead=f"`{seen.accumulator}.assign(tf.zeros_like({seen.accumulator}))` after the update"
        if seen.is_variable
        else "begin with zeros again after each update",
        trace=seen.trace,
        verdict=Verdict.WRONG_UPDATE,
        variables=(seen.accumulator,),
    )
