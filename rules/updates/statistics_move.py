"""BatchNormalization statistics move in a part that is called with `training=False`.

## What it does
Finds `fit` of a functional model in which a part with a trainable BatchNormalization was called with
`training=False`, under Keras 3; and `w.trainable = False` for the weights of such a part.

## Why it matters
Guides say that the call keeps the statistics as they are, also when the part is unfrozen for fine-tuning. They move.

## What TensorFlow does
`fit` calls the model with `training=True`, and Keras 3 lets this win over the argument of the functional call
(keras#20285): the moving mean moved by 0.268. A frozen BatchNormalization (`trainable = False`) stays as it is
(`fixtures/GL423`).

## Example
```python
x = base(inputs, training=False)
model = keras.Model(inputs, head(x))
base.trainable = True
model.compile("adam", "mse")
model.fit(images, labels)
```

## Use instead
```python
base.trainable = True
for layer in base.layers:
    if isinstance(layer, keras.layers.BatchNormalization):
        layer.trainable = False
```

## Fix safety
No fix yet.

## References
- [keras#20285](https://github.com/keras-team/keras/issues/20285)
- [Transfer learning](https://keras.io/guides/transfer_learning/)
"""

from gradlint.flow.update_events import StatisticsMoved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL423", "statistics-move", Severity.WARNING, since="0.1.0")
def statistics_move(seen: StatisticsMoved) -> Finding:
    return Finding(
        seen.place,
        _words(seen),
        instead="freeze the BatchNormalization layers: `layer.trainable = False`",
        trace=seen.trace,
        verdict=Verdict.FROZEN_MOVED,
        variables=(seen.layer,),
    )


def _words(seen: StatisticsMoved) -> str:
    if seen.by_weights:
        return f"statistics of BatchNormalization move: `{seen.layer}.trainable` freezes weights alone, not the layer"
    return f"statistics of BatchNormalization in `{seen.layer}` move: `fit` overrides `training=False` in Keras 3"
