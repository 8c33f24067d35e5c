"""A method of variables is called on a tensor, which does not have it.

## What it does
Finds `v[i].assign_sub(x)`, `v[i].assign_add(x)`, `v[0][1].assign(x)`, `tf.gather(v, i).assign(x)` and the scatter
methods on anything that is a tensor. `v[i].assign(x)` is fine: the slice of a variable has this one method.

## Why it matters
*Assigning to slices*: the line raises, the first time that it runs.

## What TensorFlow does
AttributeError: a slice of a tf.Variable or keras.Variable is a tensor with an added `assign`; a slice of it, and what
`tf.gather` returns, is a plain tensor (`fixtures/GL302`).

## Example
```python
weights[0].assign_sub(rate * gradient[0])
```

## Use instead
```python
weights[0].assign(weights[0] - rate * gradient[0])
```

## Fix safety
No fix yet.

## References
- [Variable.assign](https://www.tensorflow.org/api_docs/python/tf/Variable#assign)
"""

from gradlint.flow.update_events import SliceMethodCalled
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL302", "slice-method", Severity.ERROR, since="0.1.0")
def slice_method(seen: SliceMethodCalled) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.owner}.{seen.method}` raises AttributeError: `{seen.owner}` is "
        + (f"a slice of `{seen.variable}` and has no `{seen.method}`" if seen.is_slice else "a tensor"),
        instead=_instead(seen),
        trace=seen.trace,
        verdict=Verdict.RAISES,
        variables=(seen.variable or seen.owner,),
        severity=None if seen.certain else Severity.WARNING,
    )


def _instead(seen: SliceMethodCalled) -> str:
    sign = {"assign_sub": "-", "assign_add": "+"}.get(seen.method)
    if seen.is_slice and sign is not None:
        return f"`{seen.owner}.assign({seen.owner} {sign} ...)`"
    if seen.variable:
        return f"`{seen.variable}.scatter_nd_update(...)`, or `{seen.variable}[...].assign(...)` with one index"
    return "keep the variable, and call the method on it"
