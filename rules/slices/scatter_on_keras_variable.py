"""A scatter method is called on a keras.Variable, which has none.

## What it does
Finds `scatter_nd_sub`, `scatter_update` and their likes on a keras.Variable: the weights of Keras layers and what
`add_weight` returns.

## Why it matters
The line raises, the first time that it runs. With Keras 2 the weights were tf.Variables, and it worked.

## What TensorFlow does
AttributeError: "'Variable' object has no attribute 'scatter_nd_sub'". The backend's variable, `.value`, has the
methods (`fixtures/GL309`).

## Example
```python
layer.kernel.scatter_nd_sub(rows, steps)
```

## Use instead
```python
layer.kernel.value.scatter_nd_sub(rows, steps)
```

## Fix safety
No fix yet.

## References
- [keras.Variable](https://keras.io/api/)
"""

from gradlint.flow.update_events import ScatterMethodCalled
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL309", "scatter-on-keras-variable", Severity.ERROR, since="0.1.0")
def scatter_on_keras_variable(seen: ScatterMethodCalled) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.owner}.{seen.method}` raises AttributeError: `{seen.owner}` is a keras.Variable",
        instead=f"`{seen.owner}.value.{seen.method}(...)`",
        trace=seen.trace,
        verdict=Verdict.RAISES,
        variables=(seen.owner,),
        severity=None if seen.certain else Severity.WARNING,
    )
