"""A tape that is not persistent is asked for a second gradient.

## What it does
Finds a second `gradient`, `jacobian` or `batch_jacobian` call on a tape without `persistent=True`, in loops and through
helpers too.

## Why it matters
The program stops.

## What TensorFlow does
`RuntimeError: A non-persistent GradientTape can only be used to compute one set of gradients` (`fixtures/GL109`).

## Example
```python
with tf.GradientTape() as tape:
    loss = loss_fn(y, model(x))
dw = tape.gradient(loss, w)
db = tape.gradient(loss, b)
```

## Use instead
```python
dw, db = tape.gradient(loss, [w, b])
```

## Fix safety
No fix: `persistent=True` keeps all intermediate tensors alive.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import TapeConsumed
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause, Verdict


@rule("GL109", "tape-used-twice", Severity.ERROR, since="0.1.0")
def tape_used_twice(consumed: TapeConsumed) -> Finding | None:
    return Finding(
        consumed.asked_at,
        f"this call raises RuntimeError: `{consumed.tape.name}` is not persistent and was already asked",
        instead="ask once for a list of sources, or open the tape with `persistent=True`",
        trace=consumed.trace,
        verdict=Verdict.RAISES,
        cause=Cause.TAPE_CONSUMED,
    )
