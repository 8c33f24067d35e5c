"""A training step leaves a part of the model out.

## What it does
Finds a training step that computes its loss from several parts (encoder and decoder, body and head, a loss with a
variable of its own) and updates the variables of some of them, while nothing in the program trains, freezes, loads or
assigns the others.

## Why it matters
The part that is left out stays as it was initialised, and the loss goes down all the same.

## What TensorFlow does
`tape.gradient` and the optimizer take the variables that they are given; nothing is printed about the others
(`fixtures/GL611`).

## Example
```python
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(decoder(encoder(x)) - x))
variables = decoder.trainable_variables
optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
```

## Use instead
```python
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(decoder(encoder(x)) - x))
variables = encoder.trainable_variables + decoder.trainable_variables
optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
```

## Fix safety
No fix: the part is fixed on purpose in some programs.

## References
- [Writing a training loop](https://keras.io/guides/writing_a_custom_training_loop_in_tensorflow/)
"""

from gradlint.flow.model_events import PartNotTrained
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL611", "part-not-trained", Severity.WARNING, since="0.1.0")
def part_not_trained(seen: PartNotTrained) -> Finding:
    is_or_are = "are" if "` and `" in seen.part else "is"
    if seen.are_variables:
        instead = f"add `{seen.part}` to the variables of the step, or make it with `trainable=False`"
    else:
        instead = f"update the variables of `{seen.part}` as well, or freeze it by `{seen.part}.trainable = False`"
    return Finding(
        seen.place,
        f"`{seen.part}` {is_or_are} never trained: the loss depends on it, and the step updates `{seen.trained}` alone",
        instead=instead,
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.part,),
    )
