"""A gradient is asked from a tape that did not record it, while another tape did.

## What it does
Finds a target that was recorded by one tape and is asked from another: two tapes swapped, losses of earlier tapes
summed under a new one.

## Why it matters
Every gradient is `None`.

## What TensorFlow does
Each tape records what is computed while it is open, and knows nothing of the others (`fixtures/GL107`).

## Example
```python
with tf.GradientTape() as critic_tape:
    critic_loss = td_error(critic, batch)
with tf.GradientTape() as actor_tape:
    actor_loss = -critic(actor(batch))
gradients = actor_tape.gradient(critic_loss, critic.trainable_variables)
```

## Use instead
```python
gradients = critic_tape.gradient(critic_loss, critic.trainable_variables)
```

## Fix safety
No fix: moving code changes how often it runs.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL107", "wrong-tape", Severity.ERROR, since="0.1.0")
def wrong_tape(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.WRONG_TAPE or starved.zero_for_unconnected:
        return None
    by = f"`{cut.other_tape}`" if cut.other_tape and cut.other_tape != starved.tape.name else "another tape"
    return Finding(
        cut.place,
        f"{starved.consequence}: `{starved.target}` was recorded by {by}, not by `{starved.tape.name}`",
        instead="ask the tape that was open when the loss was computed",
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
