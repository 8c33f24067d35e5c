"""An augmented assignment to a tf.Variable, which TensorFlow refuses.

## What it does
Finds `variable -= value` and its likes (`+=`, `*=`, `/=`, `**=`) on a tf.Variable: as a name, an attribute, an element.

## Why it matters
The first step raises.

## What TensorFlow does
RuntimeError: "`variable -= value` with `tf.Variable`s is not supported". A keras.Variable does not refuse: there the
name is bound to a tensor, see variable-rebound (`fixtures/GL212`).

## Example
```python
weights -= 0.1 * gradient
```

## Use instead
```python
weights.assign_sub(0.1 * gradient)
```

## Fix safety
No fix yet.

## References
- [tf.Variable.assign_sub](https://www.tensorflow.org/api_docs/python/tf/Variable#assign_sub)
"""

from gradlint.flow.events import VariableAugmented
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause, Verdict


@rule("GL212", "augmented-variable", Severity.ERROR, since="0.1.0")
def augmented_variable(augmented: VariableAugmented) -> Finding:
    return Finding(
        augmented.place,
        f"`{augmented.code}` raises RuntimeError: `{augmented.name}` is a tf.Variable",
        instead=f"`{augmented.assigning}`",
        trace=augmented.trace,
        verdict=Verdict.RAISES,
        cause=Cause.REBOUND,
        variables=(augmented.name,),
        severity=None if augmented.certain else Severity.WARNING,
    )
