"""`tf.gradients` is called in eager code.

## What it does
Finds a call of `tf.gradients` that is reached from module level without a `tf.function` on the way.

## Why it matters
The program stops.

## What TensorFlow does
`RuntimeError: tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.`
(`fixtures/GL110`). In a `tf.function` it works.

## Example
```python
gradient = tf.gradients(loss, x)[0]
```

## Use instead
```python
with tf.GradientTape() as tape:
    tape.watch(x)
    loss = f(x)
gradient = tape.gradient(loss, x)
```

## Fix safety
No fix.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import GradientsAskedInEager
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause, Verdict


@rule("GL110", "tf-gradients-in-eager", Severity.ERROR, since="0.1.0")
def tf_gradients_in_eager(asked: GradientsAskedInEager) -> Finding | None:
    return Finding(
        asked.place,
        "this call raises RuntimeError: `tf.gradients` works in graph code alone",
        instead="record with tf.GradientTape, or put the code in a tf.function",
        trace=asked.trace,
        verdict=Verdict.RAISES,
        cause=Cause.UNSUPPORTED,
    )
