"""A model holds a layer where Keras does not look for it.

## What it does
Finds a layer with weights that a Keras layer or model keeps in a plain object, a SimpleNamespace, a dataclass, a deque
or an attribute of the class, or that is appended to a local list after `self.layers = local_list`, where nothing else
hands its variables to an optimizer.

## Why it matters
The layer computes with the weights that it was initialised with, and `fit` does not train them.

## What TensorFlow does
Keras 3 tracks layers in attributes and in lists, tuples, named tuples, dicts and sets, nested ones too, also what is
appended to `self.layers` later. It copies a list that is assigned, so that the old name holds another list. What it
does not track is missing from `trainable_variables`, without a warning (`fixtures/GL608`).

## Example
```python
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.parts = types.SimpleNamespace(hidden=keras.layers.Dense(8), head=keras.layers.Dense(1))
```

## Use instead
```python
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.parts = {"hidden": keras.layers.Dense(8), "head": keras.layers.Dense(1)}
```

## Fix safety
No fix yet.

## References
- [Making new layers and models via subclassing](https://keras.io/guides/making_new_layers_and_models_via_subclassing/)
"""

from gradlint.flow.model_events import LayerUntracked
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL608", "layer-untracked", Severity.WARNING, since="0.1.0")
def layer_untracked(seen: LayerUntracked) -> Finding:
    parts = "layers" if seen.model == "Keras" else "variables"
    return Finding(
        seen.place,
        f"`{seen.layer}` is never trained: it is kept in {seen.holder}, where {seen.model} does not look for {parts}",
        instead="set it on `self`, alone or in a list or dict",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.layer,),
    )
