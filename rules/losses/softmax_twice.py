"""A softmax is applied to what a softmax computed.

## What it does
Finds a softmax layer behind a softmax layer, and `tf.nn.softmax` of the output of a model that ends in one. Two
softmaxes with weights between them are normal and not reported.

## Why it matters
The largest of the probabilities stays near the others, so the loss stays high for right predictions, and gradients are
small.

## What TensorFlow does
The second softmax is given numbers from 0 to 1. Of 3 probabilities none is below 0.21 or above 0.577 then, of 10 none
above 0.24, and the crossentropy of 3 classes never falls below 0.551. `from_logits=True` undoes the second softmax
alone (`fixtures/GL523`).

## Example
```python
model = keras.Sequential([keras.layers.Dense(3, activation="softmax"), keras.layers.Softmax()])
```

## Use instead
```python
model = keras.Sequential([keras.layers.Dense(3), keras.layers.Softmax()])
```

## Fix safety
No fix yet.

## References
- [tf.nn.softmax](https://www.tensorflow.org/api_docs/python/tf/nn/softmax)
"""

from gradlint.flow.zero_events import SoftmaxTwice
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL523", "softmax-twice", Severity.WARNING, since="0.1.0")
def softmax_twice(seen: SoftmaxTwice) -> Finding:
    return Finding(
        seen.place,
        f"no probability comes near 0 or 1: `{seen.code}` applies a softmax to that of `{seen.first}`",
        instead="drop one of the two",
        trace=seen.trace,
        verdict=Verdict.WRONG_UPDATE,
    )
