"""Targets of shape `(N,)` meet predictions of shape `(N, 1)`: all are compared with all.

## What it does
Finds differences of a flat batch and a column of the same length in which the column is what a model computes. Axes
that are put in by hand (`x[:, None]`, `tf.expand_dims`) are meant and not reported. Losses of Keras take care of the
two shapes themselves.

## Why it matters
Every prediction is drawn to every target. With a squared error the model learns their mean, with an absolute one
their median, whatever the features say; the loss falls and stays high.

## What TensorFlow does
`(N,) - (N, 1)` has the shape `(N, N)`, as in NumPy; nothing is raised (`fixtures/GL513`).

## Example
```python
loss = tf.reduce_mean(tf.square(y - model(x)))
```

## Use instead
```python
loss = tf.reduce_mean(tf.square(y[:, None] - model(x)))
```

## Fix safety
No fix yet.

## References
- [Broadcasting](https://numpy.org/doc/stable/user/basics.broadcasting.html)
"""

from gradlint.flow.zero_events import RanksBroadcast
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL513", "ranks-broadcast", Severity.ERROR, since="0.1.0")
def ranks_broadcast(seen: RanksBroadcast) -> Finding:
    return Finding(
        seen.place,
        f"every prediction is drawn to every target: `{seen.left}` and `{seen.right}` have the shapes {seen.shapes}",
        instead="give both the same shape: `[:, None]`, or `tf.squeeze(..., axis=-1)`",
        trace=seen.trace,
        verdict=Verdict.WRONG_UPDATE,
        severity=None if seen.certain else Severity.WARNING,
    )
