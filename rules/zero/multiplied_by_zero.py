"""The only way to the loss is multiplied by a constant 0.

## What it does
Finds products with 0 on the only way from the sources to the target: a weight that integer division or `int` has made
0, a mask of zeros. A term of a loss that is switched off by the weight 0 beside others that flow is normal and not
reported.

## Why it matters
The loss is 0 from the first step, or the part before the product is not trained.

## What TensorFlow does
The gradient is exactly zero, in silence; it is not `None`, so no warning is printed (`fixtures/GL507`).

## Example
```python
weight = 1 // 2
loss = weight * error
```

## Use instead
```python
weight = 1 / 2
loss = weight * error
```

## Fix safety
No fix: the weight is the author's to say.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL507", "multiplied-by-zero", Severity.ERROR, since="0.1.0")
def multiplied_by_zero(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.CONSTANT or not (cut.symbol == "*" or cut.symbol.endswith(".multiply")):
        return None  # constant-expression
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` multiplies by 0",
        instead="multiply by a number that is not 0",
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
