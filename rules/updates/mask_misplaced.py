"""A mask that was made for one variable is multiplied with the gradient of another.

## What it does
Finds a mask that was made in the shape of a variable (`tf.ones_like(v)`, `np.ones(v.shape)`), or that masks the
values of a variable (`v.assign(v * mask)`), and meets the gradient of another variable.

## Why it matters
The entries that were meant to stay move, and others stay.

## What TensorFlow does
A product asks nothing but shapes, and two kernels of one shape are easily mistaken (`fixtures/GL410`).

## Example
```python
first.assign(first * mask)
optimizer.apply_gradients([(d_first, first), (d_second * mask, second)])
```

## Use instead
```python
optimizer.apply_gradients([(d_first * mask, first), (d_second, second)])
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import MaskMisplaced
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL410", "mask-misplaced", Severity.WARNING, since="0.1.0")
def mask_misplaced(seen: MaskMisplaced) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.mask}` is made for `{seen.meant}` and multiplied with the gradient of `{seen.met}`",
        instead=f"multiply the gradient of `{seen.meant}` by `{seen.mask}`",
        trace=seen.trace,
        verdict=Verdict.FROZEN_MOVED,
        variables=(seen.meant, seen.met),
    )
