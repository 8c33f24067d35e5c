"""A variable gets None, and the None is filtered away.

## What it does
Finds variables of a model that the loss does not depend on, where a comprehension with `if gradient is not None` keeps
their gradients from the optimizer.

## Why it matters
The filter silences the error that TensorFlow raises or warns of, and the variable is never updated: forgotten in the
forward pass, or meant for another loss.

## What TensorFlow does
`tape.gradient` returns None for a variable that the target was not computed from. Keras 3 warns of it, once the filter
is gone (`fixtures/GL412`).

## Example
```python
pairs = [(g, v) for g, v in zip(gradients, model.trainable_variables) if g is not None]
```

## Use instead
```python
variables = model.encoder.trainable_variables  # those that the loss depends on
pairs = zip(tape.gradient(loss, variables), variables)
```

## Fix safety
No fix yet.

## References
- [Introduction to gradients](https://www.tensorflow.org/guide/autodiff#getting_a_gradient_of_none)
"""

from gradlint.flow.update_events import NoneFiltered
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL412", "none-filtered", Severity.INFO, since="0.1.0")
def none_filtered(seen: NoneFiltered) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.variable}` gets None, which is filtered away here: the loss does not depend on it",
        instead=f"use `{seen.variable}` in the forward pass, or ask for the gradients of the others alone",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.variable,),
    )
