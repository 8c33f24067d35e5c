"""A test that no weight of Keras 3 passes.

## What it does
Finds a layer's name looked for in `v.name` (`"encoder" in v.name`, `v.name.startswith(...)`) where neither Keras nor
the file calls any weight so, and `isinstance(v, tf.Variable)` of a weight of Keras.

## Why it matters
The filter lets nothing through, or everything: an empty list is trained, or what should stay frozen.

## What TensorFlow does
`v.name` is `kernel` or `bias` in Keras 3, and `v.path` is `encoder/dense/kernel`; a keras.Variable is no tf.Variable
(`fixtures/GL439`).

## Example
```python
head = [v for v in model.trainable_variables if "head" in v.name]
```

## Use instead
```python
head = [v for v in model.trainable_variables if "head" in v.path]
```

## Fix safety
No fix yet.

## References
- [keras.Variable](https://keras.io/api/)
"""

from gradlint.flow.update_events import TestNeverTrue
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL439", "weight-test-never-true", Severity.WARNING, since="0.1.0")
def weight_test_never_true(seen: TestNeverTrue) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.code}` is never true in Keras 3: {seen.reason}",
        instead=seen.instead,
        trace=seen.trace,
        verdict=Verdict.EMPTY_SOURCES,
    )
