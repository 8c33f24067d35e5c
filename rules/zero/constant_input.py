"""A layer is fed with zeros alone.

## What it does
Finds a layer, or the branch of a model, whose input is made by `np.zeros`, `tf.zeros` or the like: an input for which
there are no data yet, a condition that is not passed on.

## Why it matters
The kernel of the layer is never trained, and keeps its first random numbers until real data come.

## What TensorFlow does
The gradient of the kernel is exactly zero. The bias of the layer trains, save one that starts at zero under relu, which
gets zero too (`fixtures/GL517`).

## Example
```python
prediction = model([text, tf.zeros([batch, 5])])
```

## Use instead
```python
prediction = model([text, meta])
```

## Fix safety
No fix: what to feed is the author's to say.

## References
- [The functional API: multiple inputs](https://keras.io/guides/functional_api/)
"""

from gradlint.flow.zero_events import ConstantInput
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL517", "constant-input", Severity.ERROR, since="0.1.0")
def constant_input(seen: ConstantInput) -> Finding:
    return Finding(
        seen.place,
        f"the kernel of `{seen.layer}` gets zero: it is fed with zeros alone",
        instead="feed it with data, or leave the layer out",
        trace=seen.trace,
        verdict=Verdict.ZERO,
        severity=None if seen.certain else Severity.WARNING,
    )
