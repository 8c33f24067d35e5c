"""A relu is given what is never positive.

## What it does
Finds a relu of what is negative or 0 whatever the weights (`-tf.exp(x)`, `-softplus(x)`, `log_softmax(x)`), and, as a
warning, a layer with relu whose bias starts so far below 0 that its kernel cannot make up for it.

## Why it matters
The relu is 0 for every example, and nothing up to it learns.

## What TensorFlow does
The gradient is exactly zero, in silence. A kernel of the layer after it gets zero too, as it is given zeros alone
(`fixtures/GL504`).

## Example
```python
decay = tf.nn.relu(-tf.exp(x))
```

## Use instead
```python
decay = -tf.exp(x)
```

## Fix safety
No fix: a sign, a bias or the activation can be what is wrong.

## References
- [tf.nn.relu](https://www.tensorflow.org/api_docs/python/tf/nn/relu)
"""

from gradlint.flow.zero_events import DeadRelu
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL504", "dead-relu", Severity.ERROR, since="0.1.0")
def dead_relu(seen: DeadRelu) -> Finding:
    return Finding(
        seen.place,
        f"everything up to `{seen.code}` gets zero: {seen.activation} is given {seen.why}",
        instead="change the sign, the bias or the activation, so that it is given positive numbers too",
        trace=seen.trace,
        verdict=Verdict.ZERO,
        severity=None if seen.certain else Severity.WARNING,
    )
