"""A square root, norm or standard deviation is taken of what is exactly zero.

## What it does
Finds the norm of a variable that starts at zero, distances of every row from every row (each from itself included),
roots of what relu computes, and a standard deviation over one element. Silent where a small number is added under the
root, where the square is used, and where two different sets are compared.

## Why it matters
The value is right, which hides it, and after one step the weights are NaN.

## What TensorFlow does
The derivative of a root at 0 is infinite. Behind it stands a factor 0 (the square, the relu), and 0 times infinity is
NaN; `tf.norm` of zeros gives NaN as well (`fixtures/GL532`).

## Example
```python
gaps = x[:, None] - x[None]
distances = tf.sqrt(tf.reduce_sum(gaps**2, axis=-1))
```

## Use instead
```python
gaps = x[:, None] - x[None]
distances = tf.sqrt(tf.reduce_sum(gaps**2, axis=-1) + 1e-12)
```

## Fix safety
No fix: the small number changes the value a little.

## References
- [tf.norm at zero](https://github.com/tensorflow/tensorflow/issues/12071)
"""

from gradlint.flow.zero_events import RootAtZero
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL532", "root-at-zero", Severity.ERROR, since="0.1.0")
def root_at_zero(seen: RootAtZero) -> Finding:
    gets = "an infinite gradient" if seen.infinite else "NaN"
    return Finding(
        seen.place,
        f"what lies behind `{seen.function}` gets {gets}: {seen.why}",
        instead="add a small number under the root, or use the square",
        trace=seen.trace,
        verdict=Verdict.NAN,
        severity=None if seen.certain else Severity.WARNING,
    )
