"""A straight-through estimator has a wrong sign, or stops the wrong part.

## What it does
Finds sums of `x` and `stop_gradient(...)` that are meant to pass the gradient of `x` through a quantiser, and whose
value is not the quantised one, or whose gradient is negated, doubled or cancelled.

## Why it matters
The layers before it are pulled the wrong way or not at all, or the layers after it are trained on numbers that the
quantiser does not give.

## What TensorFlow does
`stop_gradient(round(x) - x) - x` has the gradient -1; `x + stop_gradient(x - round(x))` has the value 2x - round(x);
`x + stop_gradient(round(x) - x) + x` has the gradient 2; `x + stop_gradient(round(x)) - x` has the gradient 0
(`fixtures/GL515`).

## Example
```python
quantized = x + tf.stop_gradient(x - tf.round(x))
```

## Use instead
```python
quantized = x + tf.stop_gradient(tf.round(x) - x)
```

## Fix safety
No fix yet.

## References
- [tf.stop_gradient](https://www.tensorflow.org/api_docs/python/tf/stop_gradient)
"""

from gradlint.flow.zero_events import Estimator, StraightThroughWrong
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL515", "straight-through-wrong", Severity.ERROR, since="0.1.0")
def straight_through_wrong(seen: StraightThroughWrong) -> Finding:
    return Finding(
        seen.place,
        _told(seen),
        instead=f"write `{seen.straight} + stop_gradient({seen.quantised} - {seen.straight})`",
        trace=seen.trace,
        verdict=Verdict.ZERO if seen.wrong is Estimator.CANCELLED else Verdict.WRONG_UPDATE,
        severity=None if seen.certain else Severity.WARNING,
    )


def _told(seen: StraightThroughWrong) -> str:
    match seen.wrong:
        case Estimator.NEGATED:
            return f"`{seen.straight}` gets its gradient negated: `{seen.code}` subtracts it outside `stop_gradient`"
        case Estimator.CANCELLED:
            return f"`{seen.straight}` gets zero: `{seen.code}` adds and subtracts it outside `stop_gradient`"
        case Estimator.DOUBLED:
            return f"`{seen.straight}` gets its gradient doubled: `{seen.code}` adds it twice outside `stop_gradient`"
        case Estimator.VALUE:
            return f"`{seen.code}` computes another value than `{seen.quantised}`: the signs in it do not cancel"
