"""A weight of a layer is made and never read.

## What it does
Finds a trainable weight of a Keras layer or model (`add_weight`, or a keras.Variable in an attribute) that no method,
property, regulariser or subclass reads.

## Why it matters
A scale or bias that the layer announces is missing from what it computes.

## What TensorFlow does
The weight is in `trainable_variables` and gets `None`. `fit` warns "Gradients do not exist for variables" and trains
the others (`fixtures/GL604`).

## Example
```python
class Scaled(keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 4), name="kernel")
        self.scale = self.add_weight(shape=(4,), initializer="ones", name="scale")

    def call(self, x):
        return x @ self.kernel
```

## Use instead
```python
class Scaled(keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 4), name="kernel")
        self.scale = self.add_weight(shape=(4,), initializer="ones", name="scale")

    def call(self, x):
        return x @ self.kernel * self.scale
```

## Fix safety
No fix: whether to use the weight or to remove it depends on the layer.

## References
- [Making new layers and models via subclassing](https://keras.io/guides/making_new_layers_and_models_via_subclassing/)
"""

from gradlint.flow.model_events import WeightNeverUsed
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL604", "weight-never-used", Severity.WARNING, since="0.1.0")
def weight_never_used(seen: WeightNeverUsed) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.weight}` gets None: `{seen.owner}` makes it and never reads it",
        instead=f"compute the output with `{seen.weight}`, or remove it",
        trace=seen.trace,
        verdict=Verdict.NONE,
        variables=(seen.weight,),
    )
