"""A second derivative is asked of a network that is linear piece by piece.

## What it does
Finds a gradient of a gradient, both with respect to the input of a network whose layers are linear or end in relu: the
residual of a differential equation, a curvature penalty.

## Why it matters
The second derivative is exactly zero, whatever the weights are. The equation is not learnt at all; only boundary
conditions and data are, and the residual stays what it was.

## What TensorFlow does
It gives zeros: between its kinks such a network is a straight line, and the derivative of relu at 0 is taken as 0
(`fixtures/GL519`).

## Example
```python
net = keras.Sequential([keras.Input((1,)), layers.Dense(32, activation="relu"), layers.Dense(1)])
with tf.GradientTape() as second:
    second.watch(x)
    with tf.GradientTape() as first:
        first.watch(x)
        u = net(x)
    slope = first.gradient(u, x)
curvature = second.gradient(slope, x)
```

## Use instead
```python
net = keras.Sequential([keras.Input((1,)), layers.Dense(32, activation="tanh"), layers.Dense(1)])
```

## Fix safety
No fix: which smooth activation is right (tanh, swish, sine) depends on the equation.

## References
- [Advanced automatic differentiation](https://www.tensorflow.org/guide/advanced_autodiff)
"""

from gradlint.flow.zero_events import CurvatureAsked
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL519", "curvature-of-relu", Severity.ERROR, since="0.1.0")
def curvature_of_relu(seen: CurvatureAsked) -> Finding:
    return Finding(
        seen.place,
        f"the second derivative with respect to `{seen.source}` is zero: the network is linear in pieces",
        instead="use a smooth activation: tanh, swish or sine in place of relu",
        trace=seen.trace,
        verdict=Verdict.ZERO,
        variables=(seen.source,),
        severity=None if seen.certain else Severity.WARNING,
    )
