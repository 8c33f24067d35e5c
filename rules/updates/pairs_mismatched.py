"""Gradients are paired with variables that they are not the gradients of, or are left over.

## What it does
Finds `zip(gradients, variables)` (and lists for `apply`) where the variables are those of the gradient call in
another order, a part of them (the other gradients being left over), or those of another network whose own gradients
are at hand or that the loss reads; and pairs the other way round, `(variable, gradient)`.

## Why it matters
Where the shapes agree, each variable moves along the gradient of another one, in silence. Pairs the other way round
raise. What `zip` cuts off is never updated.

## What TensorFlow does
`zip` stops at the shorter list and pairs by place; `apply_gradients` asks nothing but shapes. `(variable, gradient)`
raises AttributeError, as a tensor has no `_unique_id` (`fixtures/GL401`).

## Example
```python
gradients = tape.gradient(loss, encoder.trainable_variables + decoder.trainable_variables)
optimizer.apply_gradients(zip(gradients, decoder.trainable_variables + encoder.trainable_variables))
```

## Use instead
```python
variables = encoder.trainable_variables + decoder.trainable_variables
gradients = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(gradients, variables))
```

## Fix safety
No fix yet.

## References
- [Optimizers](https://keras.io/api/optimizers/)
- [tensorflow#32478](https://github.com/tensorflow/tensorflow/issues/32478)
"""

from gradlint.flow.update_events import Mispairing, PairsMismatched
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL401", "pairs-mismatched", Severity.ERROR, since="0.1.0")
def pairs_mismatched(seen: PairsMismatched) -> Finding:
    message, verdict = _words(seen)
    return Finding(
        seen.place,
        message,
        instead="keep one list: ask its gradients, and pair them with that very list",
        trace=seen.trace,
        verdict=verdict,
        variables=(seen.variables,),
        severity=None if seen.certain else Severity.WARNING,
    )


def _words(seen: PairsMismatched) -> tuple[str, Verdict]:
    match seen.mispairing:
        case Mispairing.REVERSED:
            return f"`{seen.code}` raises AttributeError: it pairs (variable, gradient)", Verdict.RAISES
        case Mispairing.REORDERED:
            return (
                f"`{seen.variables}` is in another order than the variables of `{seen.gradients}`",
                Verdict.WRONG_UPDATE,
            )
        case Mispairing.TRUNCATED:
            return (
                f"`{seen.variables}` holds more variables than `{seen.gradients}` gradients: the rest is never updated",
                Verdict.NEVER_UPDATED,
            )
        case Mispairing.UNAPPLIED:
            return (
                f"`{seen.gradients}` are of more variables than `{seen.variables}`: the rest is never applied",
                Verdict.NEVER_UPDATED,
            )
    return f"`{seen.gradients}` are not the gradients of `{seen.variables}`", Verdict.WRONG_UPDATE
