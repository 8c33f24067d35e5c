"""A gradient is asked through an operation that has none registered.

## What it does
Finds operations for which TensorFlow has no gradient function, not even one that says None - `tf.image.adjust_hue`,
`adjust_contrast`, area resize, `tf.unique`, `tf.linalg.logm`, `tf.linalg.lu`, weighted `bincount` (`gradlint ops` lists
them) - on the way from a source to the target.

## Why it matters
The gradient call raises, in `fit` too. Before the data goes into the model, outside the way of the gradient, the same
operations are fine and not reported.

## What TensorFlow does
LookupError: "gradient registry has no entry for ..." (`fixtures/GL208`).

## Example
```python
with tf.GradientTape() as tape:
    image = tf.image.adjust_hue(generator(z), 0.1)
    loss = -tf.reduce_mean(critic(image))
gradients = tape.gradient(loss, generator.trainable_variables)
```

## Use instead
```python
with tf.GradientTape() as tape:
    image = generator(z) * brightness  # an augmentation of differentiable arithmetic
    loss = -tf.reduce_mean(critic(image))
gradients = tape.gradient(loss, generator.trainable_variables)
```

## Fix safety
No fix: the operation has to be written with others.

## References
- [tf.RegisterGradient](https://www.tensorflow.org/api_docs/python/tf/RegisterGradient)
"""

from gradlint.flow.events import UnregisteredOperation
from gradlint.knowledge.alternatives import instead_of
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause, Verdict


@rule("GL208", "unregistered-gradient", Severity.ERROR, since="0.1.0")
def unregistered_gradient(unregistered: UnregisteredOperation) -> Finding | None:
    cut = unregistered.cut
    return Finding(
        cut.place,
        f"the gradient of `{unregistered.target}` raises LookupError: `{cut.code}` has no gradient registered",
        instead=instead_of(cut.symbol) or "write it with differentiable operations, or apply it outside the tape",
        trace=unregistered.trace,
        verdict=Verdict.RAISES,
        cause=Cause.UNREGISTERED_OP,
        variables=tuple(source.name for source in unregistered.sources),
        severity=Severity.WARNING if cut.assumed else None,
    )
