"""A Keras layer or model holds a tf.Variable, which Keras 3 does not track.

## What it does
Finds a tf.Variable that is meant to be trained, a list of them, or a tf.Module in an attribute of a Keras layer or
model, where the program does not hand it to the optimizer itself.

## Why it matters
`fit` does not train it, and weight files do not hold it. Keras 2 tracked it, so that old code changes in silence.

## What TensorFlow does
Keras 3 tracks keras.Variable and its own layers, alone or in lists, tuples, dicts and sets. A tf.Variable or tf.Module
is missing from `trainable_variables` and from `save_weights`, without a warning. The tape watches the variable all the
same: a custom loop trains it when it passes it as a source (`fixtures/GL607`).

## Example
```python
class Scaled(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.scale = tf.Variable(1.0)
```

## Use instead
```python
class Scaled(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.scale = self.add_weight(shape=(), initializer="ones", name="scale")
```

## Fix safety
No fix yet.

## References
- [Migrating Keras 2 code to Keras 3](https://keras.io/guides/migrating_to_keras_3/)
"""

from gradlint.flow.model_events import VariableUntracked
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL607", "variable-untracked", Severity.WARNING, since="0.1.0")
def variable_untracked(seen: VariableUntracked) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.attribute}` is never trained: it is {seen.holder}, which Keras 3 does not track",
        instead="use `self.add_weight`, a `keras.Variable` or a `keras.layers.Layer`",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.attribute,),
    )
