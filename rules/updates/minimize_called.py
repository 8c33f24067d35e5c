"""`minimize` is called on an optimizer of Keras 3, which has none.

## What it does
Finds `optimizer.minimize(...)` on the optimizers of Keras 3. With `keras = 2` in the settings, or `tf_keras` in the
file, it is silent.

## Why it matters
The line raises, the first time that it runs.

## What TensorFlow does
AttributeError, with a callable loss too. Optimizers of Keras 2 (tf_keras) have the method (`fixtures/GL434`).

## Example
```python
optimizer.minimize(lambda: loss(weights), [weights])
```

## Use instead
```python
with tf.GradientTape() as tape:
    value = loss(weights)
optimizer.apply_gradients([(tape.gradient(value, weights), weights)])
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import MinimizeCalled
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL434", "minimize-called", Severity.ERROR, since="0.1.0")
def minimize_called(seen: MinimizeCalled) -> Finding:
    return Finding(
        seen.place,
        f"`minimize` raises AttributeError: `{seen.optimizer}` of Keras 3 has none",
        instead="ask a tape for the gradients, and `apply_gradients`",
        trace=seen.trace,
        verdict=Verdict.RAISES,
        severity=None if seen.certain else Severity.WARNING,
    )
