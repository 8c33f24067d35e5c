"""A tensor stands where an optimizer takes a variable.

## What it does
Finds pairs for `apply_gradients` (and lists for `apply`) in which a slice of a variable, or another tensor, stands in
place of the variable.

## Why it matters
The step raises. A part of a variable cannot be given to an optimizer: it is the gradient that has to be masked.

## What TensorFlow does
AttributeError: the tensor has no `_unique_id`, by which an optimizer of Keras 3 knows its variables
(`fixtures/GL303`).

## Example
```python
optimizer.apply_gradients([(gradient, weights[0])])
```

## Use instead
```python
masked = gradient * mask  # zero but for row 0
optimizer.apply_gradients([(masked, weights)])
```

## Fix safety
No fix yet.

## References
- [Optimizer.apply_gradients](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import TensorGivenToOptimizer
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL303", "tensor-given-to-optimizer", Severity.ERROR, since="0.1.0")
def tensor_given_to_optimizer(seen: TensorGivenToOptimizer) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.code}` raises AttributeError: `{seen.name}` is {seen.holder.value}, no variable",
        instead="give the whole variable, and a gradient that is masked",
        trace=seen.trace,
        verdict=Verdict.RAISES,
        variables=(seen.name,),
        severity=None if seen.certain else Severity.WARNING,
    )
