"""A layer computes a tensor from a weight once, when it is built, and uses it in every call.

## What it does
Finds an attribute that a Keras layer sets in its constructor or in `build` to a tensor computed from a trainable weight
(the transposed kernel of another layer, `exp` of a scale), and that `call` reads.

## Why it matters
The tensor keeps the numbers that the weight had at first. Tied weights are not tied, a scale that is trained has no
effect, and no gradient comes back this way.

## What TensorFlow does
An operation outside the call is computed once, and not recorded: the layer goes on with its result, and the gradient
through it is `None` (`fixtures/GL614`).

## Example
```python
def build(self, shape):
    self.kernel = keras.ops.transpose(self.tied_to.kernel)


def call(self, x):
    return keras.ops.matmul(x, self.kernel)
```

## Use instead
```python
def call(self, x):
    return keras.ops.matmul(x, keras.ops.transpose(self.tied_to.kernel))
```

## Fix safety
No fix: a copy of the weights as they were may be meant; `tf.identity` and `tf.stop_gradient` say so.

## References
- [Making new layers and models via subclassing](https://keras.io/guides/making_new_layers_and_models_via_subclassing/)
"""

from gradlint.flow.model_events import WeightSnapshot
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL614", "weight-snapshot", Severity.WARNING, since="0.1.0")
def weight_snapshot(seen: WeightSnapshot) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.tensor}` stays as it is: it is computed from `{seen.weight}` once, when the layer is built",
        instead="compute it in `call`, or say by `tf.identity` that a copy is meant",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.weight,),
    )
