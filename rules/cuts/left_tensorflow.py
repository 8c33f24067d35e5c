"""A value leaves TensorFlow on its only way to the loss.

## What it does
Finds `.numpy()`, `.item()`, `float()`, NumPy and scikit-learn functions, `model.predict`, `tf.numpy_function` and a
`tf.py_function` whose body uses NumPy, where every way from a source to the target passes through one.

## Why it matters
The loss is printed and looks right, and nothing is learned. The same calls beside the loss - logs, labels, metrics -
are normal and not reported.

## What TensorFlow does
NumPy arrays and Python numbers have no history: the gradient is `None`, or `tape.gradient` raises AttributeError when
the target itself is no tensor. In graph code the calls raise: `.numpy()` AttributeError, `np.mean` NotImplementedError,
`float()` TypeError. A `tf.py_function` with a NumPy body gives a scalar zero, not `None` (`fixtures/GL201`).

## Example
```python
with tf.GradientTape() as tape:
    prediction = model(x)
    loss = tf.reduce_mean(np.square(y - prediction))
gradients = tape.gradient(loss, model.trainable_variables)
```

## Use instead
```python
with tf.GradientTape() as tape:
    prediction = model(x)
    loss = tf.reduce_mean(tf.square(y - prediction))
gradients = tape.gradient(loss, model.trainable_variables)
```

## Fix safety
No fix: NumPy and TensorFlow functions of one name differ in details.

## References
- [Autodiff guide: did calculations outside of TensorFlow](https://www.tensorflow.org/guide/autodiff#2_did_calculations_outside_of_tensorflow)
- [tf.py_function has no gradient for a NumPy body](https://github.com/tensorflow/tensorflow/issues/43542)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause

_INSTEAD = {
    "predict": "call the model itself under the tape: `model(x)`",
    "predict_on_batch": "call the model itself under the tape: `model(x)`",
    "tf.numpy_function": "write it with TensorFlow operations, or give it a gradient with `tf.custom_gradient`",
    "tf.py_func": "write it with TensorFlow operations, or give it a gradient with `tf.custom_gradient`",
}


@rule("GL201", "left-tensorflow", Severity.ERROR, since="0.1.0")
def left_tensorflow(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.LEFT_TENSORFLOW or starved.zero_for_unconnected:
        return None
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` leaves TensorFlow",
        instead=_INSTEAD.get(
            cut.symbol, "compute it with TensorFlow operations, and take the numbers out for logs only"
        ),
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
