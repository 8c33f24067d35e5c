"""A model that is frozen as a whole is trained.

## What it does
Finds `fit` and `train_on_batch` of a model whose own `trainable` is False when it is called; under Keras 2, when it was
compiled.

## Why it matters
Nothing is trained, and nothing is raised. The old way to write a GAN (compile the discriminator, set `trainable =
False`, compile the combined model) never trains the discriminator in Keras 3.

## What TensorFlow does
Keras 3 reads `trainable` when the first batch is trained, not when the model is compiled (`fixtures/GL424`). Keras 2
keeps what `trainable` was when the model was compiled, whatever is set later.

## Example
```python
discriminator.compile("adam", "binary_crossentropy")
discriminator.trainable = False
gan.compile("adam", "binary_crossentropy")
discriminator.train_on_batch(images, labels)
```

## Use instead
```python
discriminator.trainable = True
discriminator.train_on_batch(images, labels)
discriminator.trainable = False
gan.train_on_batch(noise, labels)
```

## Fix safety
No fix yet.

## References
- [Transfer learning](https://keras.io/guides/transfer_learning/)
"""

from gradlint.flow.update_events import FrozenModelTrained
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL424", "frozen-model-trained", Severity.WARNING, since="0.1.0")
def frozen_model_trained(seen: FrozenModelTrained) -> Finding:
    when = "was False when it was compiled" if seen.compiled else "is False when it is called"
    return Finding(
        seen.place,
        f"`{seen.method}` trains nothing: `{seen.model}` is frozen, `trainable` {when}",
        instead=f"set `{seen.model}.trainable = True` before its own step, and False before that of the combined model",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.model,),
    )
