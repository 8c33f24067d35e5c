"""The result of a function that changes nothing is dropped.

## What it does
Finds statements that consist of a call of a pure function which people call to change something:
`tf.tensor_scatter_nd_*`, `tf.where`, `tf.clip_by_*`, `tf.stop_gradient`, `tf.cast`, `tf.reshape` and the like; and
`TensorArray.write` in a `tf.function`. Calls at the left margin of a module are left out: in a script that was a
notebook they show a value. The same is said of a function of the project that returns variables less a multiple of
their gradients, where nothing writes those variables.

## Why it matters
The value is as it was before: rows stay, gradients stay unclipped, what was written is lost.

## What TensorFlow does
All functions of TensorFlow return new tensors. A TensorArray in eager code is written in place; in a graph only the
array that `write` returns holds the value (`fixtures/GL306`).

## Example
```python
tf.clip_by_norm(gradient, 1.0)
```

## Use instead
```python
gradient = tf.clip_by_norm(gradient, 1.0)
```

## Fix safety
No fix yet.

## References
- [tf.tensor_scatter_nd_sub](https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_sub)
- [tf.TensorArray](https://www.tensorflow.org/api_docs/python/tf/TensorArray)
"""

from gradlint.flow.update_events import ResultDropped
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL306", "result-dropped", Severity.ERROR, since="0.1.0")
def result_dropped(seen: ResultDropped) -> Finding:
    if seen.is_step:
        return Finding(
            seen.place,
            f"`{seen.first}` never moves: `{seen.function}` returns the new values, which are dropped",
            instead="assign them: `variable.assign_sub(rate * gradient)`",
            trace=seen.trace,
            verdict=Verdict.NEVER_UPDATED,
            severity=None if seen.certain else Severity.WARNING,
        )
    return Finding(
        seen.place,
        f"`{seen.function}` returns a new {_kind(seen)}, which is dropped: `{seen.first}` stays as it is",
        instead=f"`{seen.first} = {seen.code}`",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        severity=None if seen.certain else Severity.WARNING,
    )


def _kind(seen: ResultDropped) -> str:
    return "array" if seen.is_array else "tensor"
