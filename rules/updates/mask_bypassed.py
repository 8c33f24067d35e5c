"""A term without the mask is added to a masked gradient.

## What it does
Finds an applied gradient that is a sum in which one term is masked, and another one, computed from the same variable
(the gradient of a penalty, a weight decay by hand), is not.

## Why it matters
The masked entries move all the same: by the second term.

## What TensorFlow does
With an L2 penalty whose gradient is added after the mask, masked rows moved by 0.144 in ten steps (`fixtures/GL403`).

## Example
```python
gradient = data_gradient * mask
gradient = gradient + penalty_gradient
```

## Use instead
```python
gradient = (data_gradient + penalty_gradient) * mask
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import MaskBypassed
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL403", "mask-bypassed", Severity.ERROR, since="0.1.0")
def mask_bypassed(seen: MaskBypassed) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.variable}` moves although masked: a term without `{seen.mask}` is added to its gradient",
        instead=f"multiply the sum by `{seen.mask}`",
        trace=seen.trace,
        verdict=Verdict.FROZEN_MOVED,
        variables=(seen.variable,),
        severity=None if seen.certain else Severity.WARNING,
    )
