"""A variable is copied as a whole to change a few of its entries.

## What it does
Finds `v.assign(tf.tensor_scatter_nd_update(v, ...))` and its likes on a tf.Variable.

## Why it matters
It is right, and it copies the whole variable twice in every step.

## What TensorFlow does
`scatter_nd_*` of a tf.Variable writes the entries in place, with the same result (`fixtures/GL308`).

## Example
```python
table.assign(tf.tensor_scatter_nd_sub(table, rows, steps))
```

## Use instead
```python
table.scatter_nd_sub(rows, steps)
```

## Fix safety
No fix yet.

## References
- [Variable.scatter_nd_sub](https://www.tensorflow.org/api_docs/python/tf/Variable#scatter_nd_sub)
"""

from gradlint.flow.update_events import WholeAssigned
from gradlint.rule import Finding, Severity, rule


@rule("GL308", "whole-variable-assigned", Severity.INFO, since="0.1.0")
def whole_variable_assigned(seen: WholeAssigned) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.variable}` is copied as a whole to change a few entries",
        instead=f"`{seen.variable}.{seen.method}(...)`",
        trace=seen.trace,
        variables=(seen.variable,),
    )
