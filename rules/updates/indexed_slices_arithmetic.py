"""Arithmetic that tf.IndexedSlices do not know.

## What it does
Finds `gradient * 2.0`, `rate * gradient`, sums of two such gradients, `gradient[0]` and `gradient.numpy()` where the
gradient surely is a `tf.IndexedSlices`: every use of the variable is a lookup by `tf.gather`,
`tf.nn.embedding_lookup` or an Embedding.

## Why it matters
The line raises, while the same line works for all other variables of the model.

## What TensorFlow does
TypeError for numbers and NumPy arrays and for the sum of two; products with tensors and variables make a dense tensor
and are right (`fixtures/GL408`).

## Example
```python
table.assign_sub(0.1 * gradient)
```

## Use instead
```python
table.assign_sub(0.1 * tf.convert_to_tensor(gradient))
```

## Fix safety
No fix yet.

## References
- [tf.IndexedSlices](https://www.tensorflow.org/api_docs/python/tf/IndexedSlices)
- [tensorflow#23132](https://github.com/tensorflow/tensorflow/issues/23132)
"""

from gradlint.flow.update_events import SlicesCalculated
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL408", "indexed-slices-arithmetic", Severity.ERROR, since="0.1.0")
def indexed_slices_arithmetic(seen: SlicesCalculated) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.name}` raises {seen.raises}: the gradient of `{seen.variable}` is a tf.IndexedSlices",
        instead="make it dense, `tf.convert_to_tensor(gradient)`, or give it to an optimizer as it is",
        trace=seen.trace,
        verdict=Verdict.RAISES,
        variables=(seen.variable,),
        severity=None if seen.certain else Severity.WARNING,
    )
