"""A summand of the loss depends on variables but was computed outside every tape.

## What it does
Finds a penalty, regularizer or gradient penalty that is added to the loss under the tape but was itself computed
outside, so that it adds a number to the loss and nothing to the gradients.

## Why it matters
The printed loss contains the term, its weight seems to have no effect, and the variables never feel it.

## What TensorFlow does
The gradients are the same for every weight of the term (`fixtures/GL103`).

## Example
```python
penalty = tf.add_n([tf.nn.l2_loss(w) for w in model.trainable_weights])
for x, y in batches:
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x)) + 0.01 * penalty
```

## Use instead
```python
for x, y in batches:
    with tf.GradientTape() as tape:
        penalty = tf.add_n([tf.nn.l2_loss(w) for w in model.trainable_weights])
        loss = loss_fn(y, model(x)) + 0.01 * penalty
```

## Fix safety
No fix: moving code changes how often it runs.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import TermStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL103", "term-outside-tape", Severity.WARNING, since="0.1.0")
def term_outside_tape(starved: TermStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.OUTSIDE_TAPE:
        return None  # term-without-flow
    return Finding(
        cut.place,
        f"this term of `{starved.target}` moves nothing: `{cut.code}` is computed outside `{starved.tape.name}`",
        instead=f"compute `{cut.code}` under `{starved.tape.name}`, or stop its gradient to say that it is meant",
        trace=starved.trace,
    )
