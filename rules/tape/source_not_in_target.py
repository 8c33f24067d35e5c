"""A gradient is asked for something that the target was not computed from.

## What it does
Finds sources that the target does not depend on at all: the variables of the other network, the features of a second,
separate forward pass.

## Why it matters
The gradients are `None`, and the network whose loss this was is not trained.

## What TensorFlow does
`tape.gradient` returns `None` for a source that the target was not computed from (`fixtures/GL108`).

## Example
```python
with tf.GradientTape() as tape:
    features = backbone(image)
    score = classifier(image)[:, index]
gradients = tape.gradient(score, features)
```

## Use instead
```python
with tf.GradientTape() as tape:
    features, scores = both(image)  # one model with two outputs
    score = scores[:, index]
gradients = tape.gradient(score, features)
```

## Fix safety
No fix: moving code changes how often it runs.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import SourceSort, SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL108", "source-not-in-target", Severity.ERROR, since="0.1.0")
def source_not_in_target(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.NOT_IN_TARGET or starved.zero_for_unconnected or starved.tape.implicit:
        return None
    if starved.sources[0].sort is SourceSort.DERIVED:
        return None  # fresh-slice-as-source
    them = "them" if len(starved.sources) > 1 else "it"
    return Finding(
        starved.asked_at,
        f"{starved.consequence}: `{starved.target}` is not computed from {them}",
        instead="ask for what the loss was computed from, or compute the loss from it",
        trace=starved.trace,
        severity=Severity.WARNING if starved.cut.assumed else None,
    )
