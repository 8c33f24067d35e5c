"""A softmax runs over one entry, and is 1 whatever goes in.

## What it does
Finds a softmax or log_softmax over one entry: the activation of a layer with one unit, an `Activation("softmax")` after
such a layer, and a function such as `tf.nn.softmax` over an axis of length 1.

## Why it matters
Every prediction is 1 (0 for log_softmax). Accuracy stays at the share of one class, and the loss may fall all the same.

## What TensorFlow does
The gradient is zero or rounding noise of about 6e-8, which Adam makes steps of; that of log_softmax is exactly zero.
Under `binary_crossentropy` Keras goes back to what its own softmax was given: the weights train as under a sigmoid, and
the predictions are 1. Keras' functions warn that the axis has size 1, those of `tf.nn` do not (`fixtures/GL501`).

## Example
```python
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, activation="softmax")])
```

## Use instead
```python
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, activation="sigmoid")])
```

## Fix safety
No fix: a sigmoid, two units and another axis are each right somewhere.

## References
- [Activations](https://keras.io/api/layers/activations/)
- [tf.nn.softmax](https://www.tensorflow.org/api_docs/python/tf/nn/softmax)
"""

from gradlint.flow.zero_events import SoftmaxOfOne
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL501", "softmax-over-one-entry", Severity.ERROR, since="0.1.0")
def softmax_over_one_entry(seen: SoftmaxOfOne) -> Finding:
    constant = 0 if seen.function.endswith("log_softmax") else 1
    return Finding(
        seen.place,
        f"`{seen.code}` is {constant} whatever the weights: its {seen.function} runs over one entry",
        instead="take a sigmoid for one unit, or give the layer one unit per class"
        if seen.of_layer
        else "take the axis that has several entries, or a sigmoid",
        trace=seen.trace,
        # The crossentropies of Keras look behind the softmax of a layer, and train the weights all the same.
        verdict=Verdict.WRONG_UPDATE if seen.of_layer else Verdict.ZERO,
        severity=None if seen.certain else Severity.WARNING,
    )
