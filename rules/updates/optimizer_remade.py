"""An optimizer is made anew in each step.

## What it does
Finds an optimizer that remembers something (moments, accumulators) and is made in the same turn of a loop in which it
is applied once, or inside a tf.function.

## Why it matters
Each step is a first step: Adam moves every entry by the learning rate, whatever the size of its gradient. In a
tf.function it raises.

## What TensorFlow does
In eager code nothing is raised, and 60 steps reach a loss that is 17 times that of one kept Adam. In a tf.function:
ValueError, "tf.function only supports singleton tf.Variables created on the first call" (`fixtures/GL431`).

## Example
```python
for batch in data:
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.apply_gradients(zip(gradients_of(batch), variables))
```

## Use instead
```python
optimizer = keras.optimizers.Adam(1e-3)
for batch in data:
    optimizer.apply_gradients(zip(gradients_of(batch), variables))
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
- [tensorflow#27120](https://github.com/tensorflow/tensorflow/issues/27120)
"""

from gradlint.flow.update_events import OptimizerRemade
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL431", "optimizer-remade", Severity.WARNING, since="0.1.0")
def optimizer_remade(seen: OptimizerRemade) -> Finding:
    if seen.in_graph:
        message = f"`{seen.optimizer}` is made inside a tf.function: its second trace raises ValueError"
    else:
        message = f"`{seen.optimizer}` is made anew in each step, and forgets what it remembers"
    return Finding(
        seen.place,
        message,
        instead="make it once, outside of the step",
        trace=seen.trace,
        verdict=Verdict.RAISES if seen.in_graph else Verdict.WRONG_UPDATE,
        severity=Severity.ERROR if seen.in_graph and seen.certain else None,
    )
