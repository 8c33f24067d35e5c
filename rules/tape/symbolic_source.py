"""A gradient is asked for a Keras tensor such as `layer.output`.

## What it does
Finds a symbolic tensor (`keras.Input`, `layer.output`, the result of calling a layer on one) among the sources, or
watched by a tape.

## Why it matters
The program stops: the tensor belongs to the construction of the model, no value ever flowed through it.

## What TensorFlow does
`AttributeError: 'KerasTensor' object has no attribute '_id'`; `tape.watch` raises `ValueError` (`fixtures/GL113`).

## Example
```python
with tf.GradientTape() as tape:
    y = model(x)
gradient = tape.gradient(y, model.get_layer("hidden").output)
```

## Use instead
```python
both = keras.Model(model.inputs, [model.get_layer("hidden").output, model.output])
with tf.GradientTape() as tape:
    hidden, y = both(x)
gradient = tape.gradient(y, hidden)
```

## Fix safety
No fix.

## References
- [Introduction to gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff)
"""

from gradlint.flow.events import SymbolicSourceAsked
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause, Verdict


@rule("GL113", "symbolic-source", Severity.ERROR, since="0.1.0")
def symbolic_source(asked: SymbolicSourceAsked) -> Finding | None:
    return Finding(
        asked.place,
        f"this call raises {asked.raises}: `{asked.source}` is a Keras tensor, which has no value",
        instead="build a model that returns the tensor beside the output, and ask for what it returns",
        trace=asked.trace,
        verdict=Verdict.RAISES,
        cause=Cause.UNSUPPORTED,
        variables=(asked.source,),
    )
