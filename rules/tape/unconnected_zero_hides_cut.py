"""`unconnected_gradients=ZERO` turns the `None` of a cut into zeros.

## What it does
Finds a gradient call with `tf.UnconnectedGradients.ZERO` whose source has no flow to the target.

## Why it matters
Nothing fails and nothing warns: the optimizer applies zeros for ever.

## What TensorFlow does
The gradient is exactly zero. For a `keras.Variable` of Keras 3 the call raises AttributeError: its dtype is a string
(`fixtures/GL111`).

## Example
```python
gradient = tape.gradient(loss, w, unconnected_gradients=tf.UnconnectedGradients.ZERO)
```

## Use instead
```python
gradient = tape.gradient(loss, w)  # None shows the cut: mend it there
```

## Fix safety
No fix: the cut has to be mended, not the option.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import ZERO_CAUSES, Verdict


@rule("GL111", "unconnected-zero-hides-cut", Severity.ERROR, since="0.1.0")
def unconnected_zero_hides_cut(starved: SourcesStarved) -> Finding | None:
    if not starved.zero_for_unconnected or starved.cut.cause in ZERO_CAUSES:
        return None  # a zero of the operation itself is told as such
    many = len(starved.sources) > 1
    who, where = ("them" if many else "it"), f"`{starved.target}`"
    if starved.verdict is Verdict.RAISES:
        who, where = starved.names, "it"
    return Finding(
        starved.asked_at,
        f"{starved.consequence}: nothing connects {who} to {where}",
        instead=f"mend the way to `{starved.target}`; it ends at line {starved.cut.place.row}",
        trace=starved.trace,
        severity=Severity.WARNING if starved.cut.assumed else None,
    )
