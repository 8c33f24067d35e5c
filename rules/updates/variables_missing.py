"""A list of variables is empty.

## What it does
Finds `trainable_variables` that are read before the model is built, and used after it.

## Why it matters
Nothing is trained. `apply_gradients` of an empty list raises, `apply` and loops over it do nothing.

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
    return Finding(
        seen.place,
        f"`{seen.variables}` is empty: read before the model is built",
        instead="build the model first: an Input layer, `build`, or a first call",
        trace=seen.trace,
        verdict=Verdict.EMPTY_SOURCES,
        variables=(seen.variables,),
        severity=None if seen.certain else Severity.WARNING,
    )
