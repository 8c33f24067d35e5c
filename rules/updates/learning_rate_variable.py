"""An optimizer of Keras 3 is given a tf.Variable as its learning rate.

## What it does
Finds a tf.Variable as `learning_rate` of an optimizer of Keras 3.

## Why it matters
The constructor raises.

## What TensorFlow does
ValueError: the learning rate is a number, a schedule or a callable. `optimizer.learning_rate` is a variable of its
own, which can be assigned to (`fixtures/GL438`).

## Example
```python
rate = tf.Variable(0.1)
optimizer = keras.optimizers.SGD(learning_rate=rate)
```

## Use instead
```python
optimizer = keras.optimizers.SGD(learning_rate=0.1)
optimizer.learning_rate.assign(0.01)
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import RateIsVariable
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL438", "learning-rate-variable", Severity.ERROR, since="0.1.0")
def learning_rate_variable(seen: RateIsVariable) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.optimizer}` raises ValueError: its learning rate is a tf.Variable",
        instead="give it a number, and assign to `optimizer.learning_rate`",
        trace=seen.trace,
        verdict=Verdict.RAISES,
        severity=None if seen.certain else Severity.WARNING,
    )
