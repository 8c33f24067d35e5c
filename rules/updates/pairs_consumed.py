"""A `zip` of gradients and variables is applied after something else has gone through it.

## What it does
Finds a `zip` that a loop or comprehension went through before an optimizer is given it.

## Why it matters
A `zip` can be gone through once. The optimizer gets nothing, and raises.

## What TensorFlow does
`apply_gradients` of an empty iterable raises ValueError, "not enough values to unpack" (`fixtures/GL411`).

## Example
```python
pairs = zip(gradients, variables)
log(*(tf.norm(g) for g, _ in pairs))
optimizer.apply_gradients(pairs)
```

## Use instead
```python
pairs = list(zip(gradients, variables))
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import PairsConsumed
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL411", "pairs-consumed", Severity.ERROR, since="0.1.0")
def pairs_consumed(seen: PairsConsumed) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.pairs}` is empty, and raises ValueError: a `zip` can be gone through once",
        instead="keep a list: `list(zip(gradients, variables))`",
        trace=seen.trace,
        verdict=Verdict.RAISES,
        severity=None if seen.certain else Severity.WARNING,
    )
