"""A summand of the loss is a mere number: an operation on its only way passes no gradient.

## What it does
Finds a term of a sum that was computed from the sources under the tape, gives none of them a gradient - it left
TensorFlow, was rounded, counted, sampled - and stands beside terms that do.

The same is said of a term that trains a decoder, where the latent values that it decodes are drawn by NumPy from a mean
and a deviation: the layers that compute those feel only the other terms.

## Why it matters
The printed loss contains the term, its weight seems to have no effect, and the variables never feel it. Where the term
is a factor of the right gradient, the update is wrong.

## What TensorFlow does
The gradients are the same for every weight of the term (`fixtures/GL211`).

## Example
```python
sparsity = tf.reduce_sum(tf.cast(tf.abs(gates) > 0.1, tf.float32))
loss = error + 0.01 * sparsity
```

## Use instead
```python
sparsity = tf.reduce_sum(tf.sigmoid((tf.abs(gates) - 0.1) / 0.05))
loss = error + 0.01 * sparsity
```

## Fix safety
No fix: which differentiable stand-in is right depends on the task.

## References
- [Autodiff guide: getting a gradient of None](https://www.tensorflow.org/guide/autodiff#getting_a_gradient_of_none)
"""

from gradlint.flow.events import TermStarved
from gradlint.knowledge.alternatives import instead_of
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause

_WHY = {
    Cause.LEFT_TENSORFLOW: "leaves TensorFlow",
    Cause.NON_DIFFERENTIABLE: "has no gradient",
    Cause.SATURATED: "has a gradient of zero everywhere",
    Cause.INTEGER: "makes integers",
    Cause.DISCRETE_SAMPLE: "is a discrete sample",
    Cause.STATE: "is a new variable, without history",
    Cause.STOPPED: "stops all that is trained",
}


@rule("GL211", "term-without-flow", Severity.WARNING, since="0.1.0")
def term_without_flow(starved: TermStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause not in _WHY:
        return None  # term-outside-tape
    if starved.drawn:
        return Finding(
            cut.place,
            f"a term of `{starved.target}` does not train what `{cut.code}` draws from: NumPy draws it",
            instead="draw the noise alone: `mean + std * tf.random.normal(tf.shape(std))`",
            trace=starved.trace,
            variables=tuple(source.name for source in starved.sources),
        )
    if cut.cause is Cause.STATE:
        instead = "keep changed weights as tensors: `weight - rate * gradient`"
    elif cut.cause is Cause.STOPPED:
        instead = "stop the side that is not trained: are the arguments in their order?"
    else:
        instead = instead_of(cut.symbol) or "compute it with differentiable operations, or log it beside the loss"
    return Finding(
        cut.place,
        f"this term of `{starved.target}` moves nothing: `{cut.code}` {_WHY[cut.cause]}",
        instead=instead,
        trace=starved.trace,
    )
