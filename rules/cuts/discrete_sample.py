"""A discrete sample lies on the only way to the loss.

## What it does
Finds draws from a categorical, binomial or Bernoulli distribution, and shuffles, where every way from a source to the
target passes through one: a policy gradient without the log-probability, a hard sample as a loss.

## Why it matters
The reward is printed and the policy never changes.

## What TensorFlow does
The gradient of a discrete sample is `None`. It has to come from the log-probability of the sample (REINFORCE) or from a
relaxation (Gumbel-softmax). Normal, gamma and uniform draws are reparameterised and pass gradients to their
parameters (`fixtures/GL207`).

## Example
```python
with tf.GradientTape() as tape:
    action = tf.random.categorical(policy(state), 1)
    loss = -tf.reduce_mean(tf.gather(reward, action))
gradients = tape.gradient(loss, policy.trainable_variables)
```

## Use instead
```python
with tf.GradientTape() as tape:
    logits = policy(state)
    action = tf.random.categorical(logits, 1)[:, 0]
    log_probability = -tf.nn.sparse_softmax_cross_entropy_with_logits(action, logits)
    loss = -tf.reduce_mean(log_probability * tf.gather(reward, action))
gradients = tape.gradient(loss, policy.trainable_variables)
```

## Fix safety
No fix: the estimator is the author's to choose.

## References
- [Simple statistical gradient-following algorithms (REINFORCE)](https://doi.org/10.1007/BF00992696)
- [Categorical reparameterization with Gumbel-softmax](https://arxiv.org/abs/1611.01144)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL207", "discrete-sample", Severity.ERROR, since="0.1.0")
def discrete_sample(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.DISCRETE_SAMPLE or starved.zero_for_unconnected:
        return None
    return Finding(
        cut.place,
        f"{starved.consequence}: `{cut.code}` is a discrete sample, and no log-probability leads to `{starved.target}`",
        instead="weight the log-probability of the sample (REINFORCE), or relax the sample (Gumbel-softmax)",
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
