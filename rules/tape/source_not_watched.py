"""A gradient is asked for something that the tape never watched.

## What it does
Finds a source that is a constant, an input tensor, a variable with `trainable=False`, or any variable of a tape with
`watch_accessed_variables=False`, and that no `tape.watch` names.

## Why it matters
The gradient is `None`, however the source is used.

## What TensorFlow does
A tape watches trainable variables when they are read, and nothing else unless told to (`fixtures/GL104`).

## Example
```python
with tf.GradientTape() as tape:
    score = model(image)
saliency = tape.gradient(score, image)
```

## Use instead
```python
with tf.GradientTape() as tape:
    tape.watch(image)
    score = model(image)
saliency = tape.gradient(score, image)
```

## Fix safety
No fix yet: where the tensor is first used decides where the watch has to stand.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import SourceSort, SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause

_WHY = {
    SourceSort.FROZEN_VARIABLE: (
        "it is a variable with `trainable=False`, which {tape} does not watch",
        "they are variables with `trainable=False`, which {tape} does not watch",
    ),
    SourceSort.UNWATCHED_VARIABLE: (
        "not watched, as {tape} has `watch_accessed_variables=False`",
        "not watched, as {tape} has `watch_accessed_variables=False`",
    ),
    SourceSort.VARIABLES: ("not watched by {tape}", "not watched by {tape}"),
}


@rule("GL104", "source-not-watched", Severity.ERROR, since="0.1.0")
def source_not_watched(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.NOT_WATCHED or starved.zero_for_unconnected:
        return None
    source = starved.sources[0]
    if source.watched_at is not None:
        return None  # watched, but too late: watch-after-use
    one, many = _WHY.get(source.sort, ("it is a tensor that {tape} does not watch", "{tape} does not watch them"))
    why = (one if len(starved.sources) == 1 else many).format(tape=f"`{starved.tape.name}`")
    return Finding(
        cut.place,
        f"{starved.consequence}: {why}",
        instead=f"call `{starved.tape.name}.watch({source.name})` at the top of the tape's block",
        trace=starved.trace,
        severity=Severity.WARNING if starved.cut.assumed else None,
    )
