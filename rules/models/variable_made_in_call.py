"""A variable is made where it is used, anew each time.

## What it does
Finds a tf.Variable or keras.Variable that `call`, a loss or a training step makes, so that it starts again in each
step. Silent where it is made once and kept, and where a function makes a variable and trains it by itself.

## Why it matters
What a step teaches it is gone in the next one.

## What TensorFlow does
In `fit` and every other tf.function ValueError is raised: "tf.function only supports singleton tf.Variables created on
the first call". `tf.init_scope` does not help. In eager code, `run_eagerly=True` included, each step has a new variable
with the initial value, and no model holds it (`fixtures/GL606`).

## Example
```python
def call(self, x):
    scale = tf.Variable(1.0)
    return scale * self.dense(x)
```

## Use instead
```python
def build(self, shape):
    self.scale = self.add_weight(shape=(), initializer="ones", name="scale")


def call(self, x):
    return self.scale * self.dense(x)
```

## Fix safety
No fix yet.

## References
- [Creating tf.Variables](https://www.tensorflow.org/guide/function#creating_tfvariables)
"""

from gradlint.flow.model_events import VariableMadeInCall
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL606", "variable-made-in-call", Severity.ERROR, since="0.1.0")
def variable_made_in_call(seen: VariableMadeInCall) -> Finding:
    if seen.raises:
        message = f"`{seen.function}` raises {seen.raises}: it makes `{seen.variable}` anew each time"
    else:
        message = f"`{seen.variable}` is never trained: `{seen.function}` makes it anew each time"
    return Finding(
        seen.place,
        message,
        instead=f"make `{seen.variable}` once, before the first step: in `__init__`, or by `add_weight` in `build`",
        trace=seen.trace,
        verdict=Verdict.RAISES if seen.raises else Verdict.NEVER_UPDATED,
        variables=(seen.variable,),
        severity=None if seen.certain else Severity.WARNING,
    )
