"""A hidden layer starts with a kernel of zeros, and stays there.

## What it does
Finds a hidden layer with relu whose kernel starts at zeros, and two layers of zeros in a row whose activation is 0 at 0
(linear, tanh, gelu, elu ...). Zeros in the last layer, in a bias, in the scale of a residual branch and in one layer
with tanh are normal and not reported.

## Why it matters
The loss falls a little, as the last bias learns the mean of the targets, and every prediction is the same.

## What TensorFlow does
The derivative of relu at 0 is 0: all layers up to the zeros, and the kernel after them, get exactly zero in each step.
Two layers with tanh keep each other at zero, and only what comes after them moves, their last bias included. One layer
with tanh, or a relu with a positive bias, trains (`fixtures/GL503`).

## Example
```python
hidden = keras.layers.Dense(64, activation="relu", kernel_initializer="zeros")
```

## Use instead
```python
hidden = keras.layers.Dense(64, activation="relu")
```

## Fix safety
No fix yet.

## References
- [Layer weight initializers](https://keras.io/api/layers/initializers/)
"""

from gradlint.flow.zero_events import ZeroKernel
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL503", "zero-kernel", Severity.ERROR, since="0.1.0")
def zero_kernel(seen: ZeroKernel) -> Finding:
    if seen.several:
        why = f"two {seen.activation} layers of zeros in a row keep each other there"
    else:
        why = f"{seen.activation} passes no gradient at 0"
    return Finding(
        seen.place,
        f"the kernel of `{seen.code}` gets zero in every step: it starts at zeros, and {why}",
        instead="leave out the initializer of the kernel; zeros suit the last layer and the end of a residual branch",
        trace=seen.trace,
        verdict=Verdict.ZERO,
        severity=None if seen.certain else Severity.WARNING,
    )
