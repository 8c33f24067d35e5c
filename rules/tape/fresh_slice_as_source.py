"""A gradient is asked for a slice (or another derived tensor) that the target never used.

## What it does
Finds `tape.gradient(loss, w[0])`, and slices taken outside or beside the tape that the target does not go through.

## Why it matters
*Slicing before differentiation*: every partial derivative is `None`, as indexing makes a new tensor that no operation
has seen.

## What TensorFlow does
`tape.gradient` looks for the very tensor that it is given. The slice of the gradient is what was meant
(`fixtures/GL106`). Slicing *inside* the tape on the way to the target is fine: the gradient of `x[1:3]` is
`[0, 1, 1, 0]`.

## Example
```python
with tf.GradientTape() as tape:
    energy = potential(state)
force = tape.gradient(energy, state[0])
```

## Use instead
```python
with tf.GradientTape() as tape:
    energy = potential(state)
force = tape.gradient(energy, state)[0]
```

## Fix safety
No fix: `gradient(target, x[i])` becomes `gradient(target, x)[i]` only where `x` itself was used.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import SourceSort, SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL106", "fresh-slice-as-source", Severity.ERROR, since="0.1.0")
def fresh_slice_as_source(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    source = starved.sources[0]
    if cut.cause is not Cause.NOT_IN_TARGET or source.sort is not SourceSort.DERIVED or starved.zero_for_unconnected:
        return None
    if source.made_at is None:
        return None
    return Finding(
        source.made_at,
        f"{starved.consequence}: it is a new tensor, and `{starved.target}` was not computed from it",
        instead="ask the gradient for the whole tensor and slice the gradient",
        trace=starved.trace,
        severity=Severity.WARNING if starved.cut.assumed else None,
    )
