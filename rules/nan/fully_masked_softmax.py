"""A softmax runs over scores that a mask sets to -inf, all of them in some rows.

## What it does
Finds a softmax of scores that are set to -inf, or that -inf is added to, by a mask of data such as padding. A mask made
of positions alone (causal attention) leaves each position itself, and is not reported.

## Why it matters
One empty sequence in a batch is enough: its row is NaN, and so are the loss and the weights.

## What TensorFlow does
A softmax over -inf alone is NaN. What the row is multiplied with gets NaN; the scores themselves get zero behind a
`tf.where`, and NaN behind a sum. A large negative number such as -1e9 gives equal weights instead; a `Softmax` layer
with a mask and `MultiHeadAttention` use one (`fixtures/GL538`).

## Example
```python
weights = tf.nn.softmax(tf.where(valid, scores, float("-inf")))
```

## Use instead
```python
weights = tf.nn.softmax(tf.where(valid, scores, -1e9))
```

## Fix safety
No fix: the number has to fit the type, as float16 ends at -65504.

## References
- [Softmax layer](https://keras.io/api/layers/activation_layers/softmax/)
- [tf.nn.softmax](https://www.tensorflow.org/api_docs/python/tf/nn/softmax)
"""

from gradlint.flow.zero_events import FullyMasked
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL538", "fully-masked-softmax", Severity.WARNING, since="0.1.0")
def fully_masked_softmax(seen: FullyMasked) -> Finding:
    return Finding(
        seen.place,
        f"a row of `{seen.code}` gets NaN where `{seen.mask}` masks it as a whole: every score of it is -inf",
        instead="mask with a large negative number, such as `-1e9`, or by `keras.layers.Softmax()(scores, mask=...)`",
        trace=seen.trace,
        verdict=Verdict.NAN,
    )
