"""A layer is made in a constructor and never called.

## What it does
Finds a layer that the constructor of a Keras layer or model makes and keeps, and that nothing calls: not `call`, a
helper or a subclass, not a training step, not another layer that it is given to.

## Why it matters
The model is smaller than it reads. A slip such as calling `self.query` twice, and `self.key` never, is found so.

## What TensorFlow does
In Keras 3 the layer is never built: it has no variables, `trainable_variables` leaves it out, and `summary` calls it
unbuilt. Training runs; where the owner has no `build` of its own, Keras warns once that "it looks like it has unbuilt
state". Where `build` builds the layer, its variables exist and get `None` (`fixtures/GL601`).

## Example
```python
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.narrow = keras.layers.Dense(4, activation="relu")
        self.head = keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.hidden(x))
```

## Use instead
```python
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.narrow = keras.layers.Dense(4, activation="relu")
        self.head = keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.narrow(self.hidden(x)))
```

## Fix safety
No fix: whether to call the layer, where, or to remove it, depends on the model.

## References
- [Making new layers and models via subclassing](https://keras.io/guides/making_new_layers_and_models_via_subclassing/)
"""

from gradlint.flow.model_events import LayerNeverCalled
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL601", "layer-never-called", Severity.WARNING, since="0.1.0")
def layer_never_called(seen: LayerNeverCalled) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.layer}` is never trained: `{seen.owner}` makes it and never calls it",
        instead=f"call `{seen.layer}` on the way to the output, or remove it",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.layer,),
    )
