"""Gradients are masked or clipped, and the unchanged ones are applied.

## What it does
Finds a name that holds masked, clipped or scaled gradients and is never read, while an optimizer is given the
gradients as they were.

## Why it matters
The mask or the clip has no effect: frozen entries move, large gradients stay large.

## What TensorFlow does
`apply_gradients` moves every entry whose gradient it is given; a mask that is not in the pairs masks nothing
(`fixtures/GL402`).

## Example
```python
masked = [g * mask for g in gradients]
optimizer.apply_gradients(zip(gradients, variables))
```

## Use instead
```python
masked = [g * mask for g in gradients]
optimizer.apply_gradients(zip(masked, variables))
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import ChangeUnused
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL402", "gradient-change-unused", Severity.ERROR, since="0.1.0")
def gradient_change_unused(seen: ChangeUnused) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.name}` is {_fate(seen)}: the gradients are applied as if they were not {seen.change}",
        instead=f"apply `{seen.name}`" if seen.name.isidentifier() else "keep what it returns, and apply that",
        trace=seen.trace,
        verdict=Verdict.FROZEN_MOVED if seen.change == "masked" else Verdict.WRONG_UPDATE,
        severity=None if seen.certain else Severity.WARNING,
    )


def _fate(seen: ChangeUnused) -> str:
    return "never read" if seen.name.isidentifier() else "dropped"
