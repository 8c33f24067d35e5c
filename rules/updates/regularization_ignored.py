"""Layers have regularizers or add losses, and the loop that trains them leaves them out.

## What it does
Finds a custom loop that asks the gradients of all variables of a model, some layer of which has a regularizer or
calls `add_loss`, while no target of the file holds `model.losses`.

## Why it matters
The regularizers have no effect. `fit` adds them by itself; a loop that replaces `fit` has to.

## What TensorFlow does
`model(x)` returns outputs alone; what layers add is kept in `model.losses` until the next call (`fixtures/GL440`).

## Example
```python
with tf.GradientTape() as tape:
    loss = loss_fn(labels, model(images, training=True))
```

## Use instead
```python
with tf.GradientTape() as tape:
    loss = loss_fn(labels, model(images, training=True)) + tf.add_n(model.losses)
```

## Fix safety
No fix yet.

## References
- [Writing a training loop](https://keras.io/guides/writing_a_custom_training_loop_in_tensorflow/)
"""

from gradlint.flow.update_events import RegularizationIgnored
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL440", "regularization-ignored", Severity.WARNING, since="0.1.0")
def regularization_ignored(seen: RegularizationIgnored) -> Finding:
    return Finding(
        seen.place,
        f"the losses that layers of `{seen.model}` add are left out of the target: its regularizers have no effect",
        instead=f"add `tf.add_n({seen.model}.losses)` to the loss, under the tape",
        trace=seen.trace,
        verdict=Verdict.WRONG_UPDATE,
        variables=(seen.model,),
    )
