"""A list of variables is empty, or lacks those of layers that are built later.

## What it does
Finds `trainable_variables` that are read before the model is built, and used after it. Where a part of the model had
its variables already, the list holds those alone: that is a warning.

## Why it matters
What is not in the list is not trained. `apply_gradients` of an empty list raises, `apply` and loops over it do nothing.

## What TensorFlow does
Keras makes the variables of a layer when it is built: by an Input, `build`, or the first call. A list that was read
before stays empty (`fixtures/GL433`).

## Example
```python
model = keras.Sequential([keras.layers.Dense(1)])
variables = model.trainable_variables
gradients = tape.gradient(loss_of(model(x)), variables)
```

## Use instead
```python
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
variables = model.trainable_variables
```

## Fix safety
No fix yet.

## References
- [keras.Model](https://keras.io/api/models/model/)
"""

from gradlint.flow.update_events import VariablesMissing
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL433", "variables-missing", Severity.ERROR, since="0.1.0")
def variables_missing(seen: VariablesMissing) -> Finding:
    is_or_are = "are" if "` and `" in seen.left_out else "is"
    if seen.left_out:
        lacks = f"`{seen.left_out}` {is_or_are} never trained: `{seen.variables}` was read before it had variables"
    else:
        lacks = f"`{seen.variables}` is empty: read before the model is built"
    return Finding(
        seen.place,
        lacks,
        instead="build the model first: an Input layer, `build`, or a first call",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED if seen.left_out else Verdict.EMPTY_SOURCES,
        variables=(seen.left_out or seen.variables,),
        severity=None if seen.certain else Severity.WARNING,
    )
