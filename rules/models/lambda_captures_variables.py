"""A Lambda layer uses a layer or a variable from around it.

## What it does
Finds `keras.layers.Lambda` whose function reads a layer with weights or a variable that is meant to be trained and that
no model holds otherwise.

## Why it matters
It takes part in the output and is not trained; it is missing from the weight files as well.

## What TensorFlow does
Keras does not look into functions: the variables are missing from `trainable_variables`, and nothing is printed (Keras
2 warned). A layer that is also a layer of the model itself is tracked (`fixtures/GL609`).

## Example
```python
gate = keras.layers.Dense(4, activation="sigmoid")
outputs = keras.layers.Lambda(lambda x: x * gate(x))(inputs)
```

## Use instead
```python
gate = keras.layers.Dense(4, activation="sigmoid")
outputs = keras.layers.Multiply()([inputs, gate(inputs)])
```

## Fix safety
No fix yet.

## References
- [Lambda layer](https://keras.io/api/layers/core_layers/lambda/)
"""

from gradlint.flow.model_events import LambdaCaptured
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL609", "lambda-captures-variables", Severity.WARNING, since="0.1.0")
def lambda_captures_variables(seen: LambdaCaptured) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.captured}` is never trained: a Lambda layer uses it, and Keras does not look into functions",
        instead=f"write a `keras.layers.Layer` that holds `{seen.captured}` in an attribute",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.captured,),
    )
