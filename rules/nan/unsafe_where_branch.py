"""`tf.where` leaves out a value, and its gradient comes through as NaN.

## What it does
Finds `tf.where` between a safe value and a function of the number that the condition asks about, where the function
has no finite derivative when it is not picked: a logarithm or quotient at 0, a power with a fraction at or below 0, an
arcsine at 1, an exponential that overflows. Silent where the function is given a safe number by a second `tf.where`,
or by `tf.maximum`.

## Why it matters
The loss is right, which hides it, and after one step the weights are NaN.

## What TensorFlow does
The branch that is not picked gets a gradient of 0, and 0 times infinity is NaN. `tf.sqrt` is an exception: its
gradient is 0 there, and NaN only in a function compiled with `jit_compile=True` (`fixtures/GL531`).

## Example
```python
entropy = -tf.reduce_sum(tf.where(p > 0.0, p * tf.math.log(p), 0.0))
```

## Use instead
```python
safe = tf.where(p > 0.0, p, 1.0)
entropy = -tf.reduce_sum(tf.where(p > 0.0, p * tf.math.log(safe), 0.0))
```

## Fix safety
No fix yet.

## References
- [tf.where](https://www.tensorflow.org/api_docs/python/tf/where), which tells of the second `tf.where`
"""

from gradlint.flow.zero_events import UnsafeBranch
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict

_WORDS = {"/": "the quotient", "**": "the power"}


@rule("GL531", "unsafe-where-branch", Severity.ERROR, since="0.1.0")
def unsafe_where_branch(seen: UnsafeBranch) -> Finding:
    function = _WORDS.get(seen.function, f"`{seen.function}`")
    compiled = " under `jit_compile=True`" if seen.compiled_only else ""
    return Finding(
        seen.place,
        f"`{seen.argument}` gets NaN{compiled} where {function} is not picked: its derivative is not finite there",
        instead=f"give {function} a safe number: a second `tf.where` around `{seen.argument}`, or `tf.maximum`",
        trace=seen.trace,
        verdict=Verdict.NAN,
        severity=None if seen.certain and not seen.compiled_only else Severity.WARNING,
    )
