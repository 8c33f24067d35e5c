"""A softmax or sigmoid meets a crossentropy that takes logits.

## What it does
Finds the output of a softmax or sigmoid given to a crossentropy with `from_logits=True`, or to
`tf.nn.softmax_cross_entropy_with_logits` and its likes.

## Why it matters
A second softmax or sigmoid over probabilities keeps the loss high even for right predictions, and gradients small.
Where Keras goes back to the logits, only a warning is printed: then the finding is an info.

## What TensorFlow does
Where the activation is one of Keras, or the step runs in graph code, and the loss is one of Keras, it takes the logits
from before the activation: loss and gradient are the same as on logits, and a UserWarning is printed. Functions of
`tf.nn` never do so, and `tf.nn.softmax` or `tf.sigmoid` in eager code is not undone: the activation is applied twice
(`fixtures/GL522`).

## Example
```python
probabilities = model(x)  # ends in a softmax
loss = tf.nn.softmax_cross_entropy_with_logits(labels, probabilities)
```

## Use instead
```python
logits = model(x)  # ends in a linear layer
loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
```

## Fix safety
No fix: whoever else reads the model's output may want probabilities.

## References
- [Probabilistic losses](https://keras.io/api/losses/probabilistic_losses/)
- [tf.nn.softmax_cross_entropy_with_logits](https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits)
"""

from gradlint.flow.zero_events import ProbabilitiesAsLogits
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL522", "probabilities-as-logits", Severity.WARNING, since="0.1.0")
def probabilities_as_logits(seen: ProbabilitiesAsLogits) -> Finding:
    if seen.corrected:
        message = f"the output trains as its logits, and Keras warns: `{seen.loss}` is told that it gets logits"
    else:
        message = f"the {seen.activation} is applied twice: `{seen.loss}` takes logits, not probabilities"
    return Finding(
        seen.place,
        message,
        instead=f"drop `from_logits=True`, or the {seen.activation}" if seen.corrected else "give the loss the logits",
        trace=seen.trace,
        verdict=Verdict.FLOWS if seen.corrected else Verdict.WRONG_UPDATE,
        severity=Severity.INFO if seen.corrected else None,
    )
