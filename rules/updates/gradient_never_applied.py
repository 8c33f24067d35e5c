"""A gradient is asked for in a step of training, and nothing is done with it.

## What it does
Finds a gradient that is bound to a name which nothing reads, or whose clipped form is read by nothing, in a function
that trains, where the variable that it is of gets no other gradient and no new value either.

## Why it matters
`apply_gradients` was forgotten: the loss is printed, the variable stays where it began.

## What TensorFlow does
`tape.gradient` only computes. A variable moves when an optimizer is given the gradient, or by `assign`
(`fixtures/GL442`).

## Example
```python
def update_temperature(entropy):
    with tf.GradientTape() as tape:
        loss = tf.exp(log_alpha) * (entropy - target)
    gradients = tape.gradient(loss, [log_alpha])
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    return loss
```

## Use instead
```python
def update_temperature(entropy):
    with tf.GradientTape() as tape:
        loss = tf.exp(log_alpha) * (entropy - target)
    gradients = tape.gradient(loss, [log_alpha])
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, [log_alpha]))
    return loss
```

## Fix safety
No fix: which optimizer is meant is for the author to say.

## References
- [Writing a training loop from scratch](https://www.tensorflow.org/guide/keras/writing_a_training_loop_from_scratch)
"""

from gradlint.flow.update_events import GradientUnused
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL442", "gradient-never-applied", Severity.WARNING, since="0.1.0")
def gradient_never_applied(seen: GradientUnused) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.variables}` never moves: nothing is done with `{seen.name}`",
        instead="hand the gradients to the optimizer: `optimizer.apply_gradients(zip(gradients, variables))`",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
    )
