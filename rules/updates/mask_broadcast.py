"""A mask of shape `(n,)` meets a column `(n, 1)`: every entry meets every other.

## What it does
Finds products of a column `(n, 1)` and a row `(n,)` of the same length where one of them is a mask, or a gradient.
Shapes come from literals, NumPy and the constructors of TensorFlow.

## Why it matters
The product has the shape `(n, n)`: each example counts with the mask of all the others. Nothing is raised.

## What TensorFlow does
`tf.ones((6, 1)) * tf.ones((6,))` has the shape `(6, 6)`, as in NumPy (`fixtures/GL404`).

## Example
```python
losses = tf.square(prediction - target)  # (6, 1)
weighted = losses * valid  # valid: (6,)
```

## Use instead
```python
weighted = losses * valid[:, None]
```

## Fix safety
No fix yet.

## References
- [Broadcasting](https://numpy.org/doc/stable/user/basics.broadcasting.html)
"""

from gradlint.flow.update_events import MaskBroadcast
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL404", "mask-broadcast", Severity.WARNING, since="0.1.0")
def mask_broadcast(seen: MaskBroadcast) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.code}` has the shape {seen.result}: "
        f"`{seen.left}` is {seen.left_shape}, `{seen.right}` is {seen.right_shape}",
        instead="give both the same shape: `[:, None]` or `tf.squeeze`",
        trace=seen.trace,
        verdict=Verdict.WRONG_UPDATE,
    )
