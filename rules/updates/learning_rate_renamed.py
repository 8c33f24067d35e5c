"""`lr` of an optimizer, which in Keras 3 is called `learning_rate`.

## What it does
Finds `optimizer.lr = x`, reading `optimizer.lr`, and `lr=` in the constructor of an optimizer of Keras 3.

## Why it matters
Setting it does nothing: the rate stays as it was. The other two raise.

## What TensorFlow does
`optimizer.lr = 0.5` sets an attribute that nothing reads, and `learning_rate` keeps its value; `optimizer.lr` raises
AttributeError; `SGD(lr=0.1)` raises ValueError (`fixtures/GL435`).

## Example
```python
optimizer.lr = 0.01
```

## Use instead
```python
optimizer.learning_rate = 0.01
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
"""

from gradlint.flow.update_events import RateRenamed
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL435", "learning-rate-renamed", Severity.ERROR, since="0.1.0")
def learning_rate_renamed(seen: RateRenamed) -> Finding:
    if seen.raises:
        message = f"`{seen.code}` raises {seen.raises}: Keras 3 calls it `learning_rate`"
    else:
        message = f"`{seen.code}` is set and never read: Keras 3 calls it `learning_rate`"
    return Finding(
        seen.place,
        message,
        instead="`learning_rate`",
        trace=seen.trace,
        verdict=Verdict.RAISES if seen.raises else Verdict.WRONG_UPDATE,
        severity=None if seen.certain else Severity.WARNING,
    )
