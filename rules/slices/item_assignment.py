"""An item is assigned to a tensor or variable, which TensorFlow refuses.

## What it does
Finds `x[i] = value` and `x[i] += value` where `x` is a tensor, a gradient, the output of a model, a tf.Variable or a
keras.Variable. Lists, dicts and NumPy arrays are fine, and so are objects with a `__setitem__` of their own.

## Why it matters
*Assigning to slices*: the line raises, the first time that it runs.

## What TensorFlow does
TypeError: "object does not support item assignment", for tensors and for variables of both kinds, in eager code and
in a `tf.function`: AutoGraph does not rewrite it (`fixtures/GL301`).

## Example
```python
gradient[frozen_rows] = 0.0
```

## Use instead
```python
gradient = tf.tensor_scatter_nd_update(gradient, rows, zeros)  # a new tensor
weights[0].assign(row)  # a slice of a variable has an `assign`
```

## Fix safety
No fix yet.

## References
- [tf.tensor_scatter_nd_update](https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update)
- [tensorflow#33131](https://github.com/tensorflow/tensorflow/issues/33131)
"""

from gradlint.flow.update_events import Holder, ItemAssigned
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL301", "item-assignment", Severity.ERROR, since="0.1.0")
def item_assignment(seen: ItemAssigned) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.code} = ...` raises {_exception(seen)}: `{seen.name}` is {seen.holder.value}",
        instead=_instead(seen),
        trace=seen.trace,
        verdict=Verdict.RAISES,
        variables=(seen.name,),
        severity=None if seen.certain else Severity.WARNING,
    )


def _exception(seen: ItemAssigned) -> str:
    return "ValueError" if seen.holder is Holder.READ_ONLY else "TypeError"


def _instead(seen: ItemAssigned) -> str:
    if seen.holder is Holder.READ_ONLY:
        return f"copy it: `{seen.name} = np.array(...)`"
    if seen.holder is Holder.VARIABLE:
        return f"`{seen.code}.assign(...)`"
    if seen.holder is Holder.GRADIENT:
        return f"multiply `{seen.name}` by a mask of zeros and ones"
    return f"make a new tensor: `{seen.name} = tf.tensor_scatter_nd_update({seen.name}, ...)`"
