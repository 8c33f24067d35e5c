"""An optimizer is given variables that it was not built with.

## What it does
Finds one optimizer that is applied to one set of variables and later to another: two networks, or layers that were
frozen at the first update.

## Why it matters
The second update raises.

## What TensorFlow does
ValueError, "Unknown variable", for every optimizer of Keras 3, SGD too: it makes its slots for the variables of the
first update. `optimizer.build(all_variables)` first makes it work; legacy optimizers do not raise (`fixtures/GL432`).

## Example
```python
optimizer.apply_gradients(zip(d_gradients, discriminator.trainable_variables))
optimizer.apply_gradients(zip(g_gradients, generator.trainable_variables))
```

## Use instead
```python
d_optimizer.apply_gradients(zip(d_gradients, discriminator.trainable_variables))
g_optimizer.apply_gradients(zip(g_gradients, generator.trainable_variables))
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import OptimizerShared
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL432", "optimizer-shared", Severity.ERROR, since="0.1.0")
def optimizer_shared(seen: OptimizerShared) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.optimizer}` raises ValueError: it was built with {_code(seen.first)}, {_given(seen)}",
        instead="one optimizer for each set, or `optimizer.build(all_variables)` before the first update",
        trace=seen.trace,
        verdict=Verdict.RAISES,
        variables=(seen.then,),
        severity=None if seen.certain else Severity.WARNING,
    )


def _code(text: str) -> str:
    return "other variables" if text == "these variables" else f"`{text}`"


def _given(seen: OptimizerShared) -> str:
    if seen.first == seen.then:
        return "and these are of another object, or not frozen any more"
    return f"and is given {_code(seen.then)}"
