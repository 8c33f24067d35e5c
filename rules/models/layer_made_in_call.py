"""A layer with weights is made where it is called, anew each time.

## What it does
Finds a layer with weights that `call`, a training step, a loss or another function that runs in each step makes and
calls at once. Silent about layers without weights, about `build`, and where the layer is made once and kept.

## Why it matters
Each call has new random weights, no model holds them, and no step trains them.

## What TensorFlow does
In `fit`, `predict` and every other tf.function ValueError is raised: "tf.function only supports singleton tf.Variables
created on the first call". In eager code, `run_eagerly=True` included, nothing is raised: two calls of the model are
not alike, and `trainable_variables` leaves the layer out. `self.layer = Dense(...)` in `call` raises ValueError in both
("You cannot add new elements of state"), except while Keras builds the model in its first call (`fixtures/GL605`).

## Example
```python
def call(self, x):
    hidden = keras.layers.Dense(8, activation="tanh")(x)
    return self.head(hidden)
```

## Use instead
```python
def __init__(self):
    super().__init__()
    self.hidden = keras.layers.Dense(8, activation="tanh")
    self.head = keras.layers.Dense(1)


def call(self, x):
    return self.head(self.hidden(x))
```

## Fix safety
No fix yet.

## References
- [Creating tf.Variables](https://www.tensorflow.org/guide/function#creating_tfvariables)
- [Making new layers and models via subclassing](https://keras.io/guides/making_new_layers_and_models_via_subclassing/)
"""

from gradlint.flow.model_events import LayerMadeInCall
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL605", "layer-made-in-call", Severity.ERROR, since="0.1.0")
def layer_made_in_call(seen: LayerMadeInCall) -> Finding:
    if seen.raises:
        message = f"`{seen.function}` raises {seen.raises}: it makes `{seen.layer}` anew each time"
    else:
        message = f"`{seen.layer}` is never trained: `{seen.function}` makes it anew each time"
    return Finding(
        seen.place,
        message,
        instead="make it once, in `__init__` or `build`, and keep it in an attribute",
        trace=seen.trace,
        verdict=Verdict.RAISES if seen.raises else Verdict.NEVER_UPDATED,
        variables=(seen.layer,),
        severity=None if seen.certain else Severity.WARNING,
    )
