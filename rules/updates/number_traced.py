"""A Python number is changed after a tf.function read it.

## What it does
Finds a Python number or flag from outside (an attribute, a global, a name of the enclosing function) that a
tf.function read when it was traced, that is changed afterwards, and the function called again.

## Why it matters
The function goes on with the old number: a learning rate that is lowered stays, a part that is switched on is left
out.

## What TensorFlow does
A graph holds Python values as constants. A new value among the *arguments* of the call makes TensorFlow trace again;
attributes and globals do not (`fixtures/GL436`).

## Example
```python
@tf.function
def step():
    weights.assign_sub(self.rate * gradient())


self.rate = 0.001  # no effect
```

## Use instead
```python
self.rate = tf.Variable(0.1, trainable=False)
self.rate.assign(0.001)
```

## Fix safety
No fix yet.

## References
- [tf.function](https://www.tensorflow.org/guide/function)
"""

from gradlint.flow.update_events import NumberTraced
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL436", "number-traced", Severity.WARNING, since="0.1.0")
def number_traced(seen: NumberTraced) -> Finding:
    return Finding(
        seen.place,
        _words(seen),
        instead=f"make `{seen.name}` a tf.Variable, or an argument of `{seen.function}`",
        trace=seen.trace,
        verdict=Verdict.WRONG_UPDATE,
        variables=(seen.name,),
    )


def _words(seen: NumberTraced) -> str:
    if seen.counts:
        return f"`{seen.name}` changes once, while `{seen.function}` is traced: a graph does not run Python code"
    return f"`{seen.function}` goes on with the old `{seen.name}`: a graph keeps Python numbers as they were"
