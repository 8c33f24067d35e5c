"""An operation without a gradient lies on the only way to the loss.

## What it does
Finds rounding, comparisons, thresholds, `argmax`, `argsort`, `one_hot`, histograms, `searchsorted`, accuracies, the
indices of `top_k` and whatever else was measured to give `None` (`gradlint ops SYMBOL` says which), where every way
from a source to the target passes through one. A threshold in a custom loss that is given to `compile` is such a way
too.

## Why it matters
The loss is printed and looks right, and nothing is learned; `fit` raises "No gradients provided for any variable" when
all variables are behind the cut, and prints a list of names when some are. The same operations in metrics, masks,
indices and labels are normal and not reported.

## What TensorFlow does
The gradient is `None`, not zero: these operations are registered as not differentiable (`fixtures/GL202`).

## Example
```python
def f1_loss(y_true, y_pred):
    hit = tf.reduce_sum(y_true * tf.round(y_pred))
    return 1.0 - 2.0 * hit / tf.reduce_sum(y_true + tf.round(y_pred))
```

## Use instead
```python
def f1_loss(y_true, y_pred):
    hit = tf.reduce_sum(y_true * y_pred)
    return 1.0 - 2.0 * hit / tf.reduce_sum(y_true + y_pred)
```

## Fix safety
No fix: which differentiable stand-in is right depends on the task.

## References
- [Autodiff guide: getting a gradient of None](https://www.tensorflow.org/guide/autodiff#getting_a_gradient_of_none)
- [tf.no_gradient](https://www.tensorflow.org/api_docs/python/tf/no_gradient)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.knowledge.alternatives import instead_of
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL202", "non-differentiable-operation", Severity.ERROR, since="0.1.0")
def non_differentiable_operation(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.NON_DIFFERENTIABLE or starved.zero_for_unconnected:
        return None
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` has no gradient",
        instead=instead_of(cut.symbol) or "a differentiable stand-in on the way to the loss",
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
