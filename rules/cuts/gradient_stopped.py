"""`stop_gradient` lies on the only way to the loss.

## What it does
Finds sources whose every way to the target passes through `tf.stop_gradient`: on both branches, around the whole loss,
or around a whole straight-through estimator, `stop_gradient(x + (q - x))`.

## Why it matters
The author meant to stop one of several ways, and stopped them all: what lies behind is never trained. Stopped targets,
teachers and baselines beside a flowing way are normal and not reported, nor is a stopped part of a larger model.

## What TensorFlow does
The gradient of everything behind `stop_gradient` is `None` (`fixtures/GL204`).

## Example
```python
def quantize(z):
    q = tf.round(z)
    return tf.stop_gradient(z + (q - z))
```

## Use instead
```python
def quantize(z):
    q = tf.round(z)
    return z + tf.stop_gradient(q - z)
```

## Fix safety
No fix: which part is to be stopped is the author's to say.

## References
- [tf.stop_gradient](https://www.tensorflow.org/api_docs/python/tf/stop_gradient)
- [Estimating or propagating gradients through stochastic neurons](https://arxiv.org/abs/1308.3432)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL204", "gradient-stopped", Severity.ERROR, since="0.1.0")
def gradient_stopped(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.STOPPED or starved.zero_for_unconnected:
        return None
    what = "stops the whole straight-through estimator" if cut.straight_through else "stops the only way"
    instead = "stop the difference alone: `x + tf.stop_gradient(q - x)`" if cut.straight_through else None
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` {what}",
        instead=instead or "stop only what must stay constant, or do not ask for these gradients",
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
