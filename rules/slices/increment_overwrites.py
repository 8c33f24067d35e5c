"""A step of descent overwrites the entries that it should have changed.

## What it does
Finds `scatter_nd_update`, `scatter_update`, `tensor_scatter_nd_update` and `assign` of a variable that are given a
scaled gradient of this very variable (`-rate * gradient`) and nothing of its present value.

## Why it matters
The entries become the step itself, tiny numbers near zero, in every step anew. Nothing is raised.

## What TensorFlow does
`update` and `assign` replace; `sub` and `add` change. With `5.0` and a step of `-0.6` the entry becomes `-0.6`, not
`4.4` (`fixtures/GL304`).

## Example
```python
weights.scatter_nd_update(rows, -rate * gradient_of_rows)
```

## Use instead
```python
weights.scatter_nd_add(rows, -rate * gradient_of_rows)
```

## Fix safety
No fix yet.

## References
- [Variable.scatter_nd_sub](https://www.tensorflow.org/api_docs/python/tf/Variable#scatter_nd_sub)
- [tf.tensor_scatter_nd_sub](https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_sub)
"""

from gradlint.flow.update_events import IncrementAssigned
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL304", "increment-overwrites", Severity.ERROR, since="0.1.0")
def increment_overwrites(seen: IncrementAssigned) -> Finding:
    better = {"assign": "assign_sub"}.get(seen.method, seen.method.replace("update", "sub"))
    return Finding(
        seen.place,
        f"`{seen.variable}` is overwritten by a step of descent: `{seen.method}` replaces what is there",
        instead=f"`{better}` of the step without its minus (or `{better.replace('sub', 'add')}` with it)",
        trace=seen.trace,
        verdict=Verdict.WRONG_UPDATE,
        variables=(seen.variable,),
        severity=None if seen.certain else Severity.WARNING,
    )
