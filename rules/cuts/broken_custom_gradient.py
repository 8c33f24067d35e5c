"""A `tf.custom_gradient` function gives no gradient, or TensorFlow refuses it.

## What it does
Finds gradient functions that return nothing, that return another number of gradients than there are arguments, that do
not accept `variables` although the function reads a trainable variable, and calls that pass tensors by keyword.

## Why it matters
A forgotten `return` starves everything behind it in silence. Arguments passed by keyword silently get the gradient of
the body instead of the written one.

## What TensorFlow does
`None` for a gradient function that returns None; ValueError (InternalError in graph code) for a wrong number of
gradients; TypeError in the forward pass when `variables` is missing. Keywords are refused by graph code (ValueError),
and in eager code the written gradient is not used for them (`fixtures/GL209`).

## Example
```python
@tf.custom_gradient
def reverse(x):
    def gradient(upstream):
        flipped = -upstream

    return tf.identity(x), gradient
```

## Use instead
```python
@tf.custom_gradient
def reverse(x):
    def gradient(upstream):
        return -upstream

    return tf.identity(x), gradient
```

## Fix safety
No fix: what the gradient should be is the author's to say.

## References
- [tf.custom_gradient](https://www.tensorflow.org/api_docs/python/tf/custom_gradient)
- [Keywords are ignored](https://github.com/tensorflow/tensorflow/issues/65839)
- [A custom gradient and variables](https://github.com/tensorflow/tensorflow/issues/31945)
"""

from gradlint.flow.events import CustomGradientMisused, Misuse
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause, Verdict


@rule("GL209", "broken-custom-gradient", Severity.ERROR, since="0.1.0")
def broken_custom_gradient(misused: CustomGradientMisused) -> Finding | None:
    message, instead, verdict = _told(misused)
    return Finding(
        misused.place,
        message,
        instead=instead,
        trace=misused.trace,
        verdict=verdict,
        cause=Cause.CUSTOM_GRADIENT,
        variables=misused.variables,
    )


def _told(misused: CustomGradientMisused) -> tuple[str, str, Verdict]:
    match misused.misuse:
        case Misuse.NONE:
            message = f"{misused.detail}: this gradient function returns None"
            return message, "return the gradient of each argument", Verdict.NONE
        case Misuse.SOMETIMES_NONE:
            message = "the gradient is None on some ways: this gradient function ends without `return`"
            return message, "return the gradient of each argument on every way", Verdict.NONE
        case Misuse.COUNT | Misuse.COUNT_IN_GRAPH:
            error = "InternalError" if misused.misuse is Misuse.COUNT_IN_GRAPH else "ValueError"
            message = f"the gradient raises {error}: {misused.detail} arguments are returned"
            return message, "return one gradient per argument, None where there is none", Verdict.RAISES
        case Misuse.VARIABLES:
            message = (
                f"the call raises TypeError: `{misused.detail}` is read, and the gradient function has no `variables`"
            )
            return message, "accept `variables=None`, and return `(gradients, variable_gradients)`", Verdict.RAISES
        case Misuse.KEYWORDS_IN_GRAPH:
            message = f"`{misused.code}` raises ValueError: graph code takes no keywords for a custom gradient"
            return message, "pass the tensors by position", Verdict.RAISES
    message = f"`{misused.code}` passes tensors by keyword: the custom gradient is not used for them"
    return message, "pass the tensors by position", Verdict.WRONG_UPDATE
