"""`tape.watch` is given a keras.Variable.

## What it does
Finds `tape.watch(layer.kernel)` and `tape.watch` on any keras.Variable.

## Why it matters
The program stops.

## What TensorFlow does
`ValueError: Passed in object ... of type Variable, not tf.Tensor or tf.Variable or ExtensionType` with Keras 3
(`fixtures/GL112`, keras-team/keras#19155).

## Example
```python
tape.watch(layer.kernel)
```

## Use instead
```python
tape.watch(layer.kernel.value)
```

## Fix safety
No fix yet.

## References
- [keras-team/keras#19155](https://github.com/keras-team/keras/issues/19155)
"""

from gradlint.flow.events import KerasVariableWatched
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause, Verdict


@rule("GL112", "watch-on-keras-variable", Severity.ERROR, since="0.1.0")
def watch_on_keras_variable(watched: KerasVariableWatched) -> Finding | None:
    return Finding(
        watched.place,
        "this call raises ValueError: a tape cannot watch a keras.Variable",
        instead="watch its `.value`; trainable variables are watched without being told",
        verdict=Verdict.RAISES,
        cause=Cause.UNSUPPORTED,
    )
