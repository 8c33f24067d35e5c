"""A value goes through state on its only way to the loss.

## What it does
Finds values that are written into a variable, a lookup table, a queue, a data set or a metric object and read back,
where every way from a source to the target does: `v.assign(f(w))`, `tf.Variable(f(w))`, `model.set_weights(...)`,
`table.insert(...)`, `metric(y, y_pred)`, a loop over a `tf.data.Dataset` in graph code inside a tape. A
`TensorArray.write` whose result is dropped is a GL306.

## Why it matters
What is read back has the right numbers and no history: the loss looks right, and nothing is learned. Weights that are
updated by a formula (MAML) have to stay tensors.

## What TensorFlow does
State carries no gradient: reading a variable starts anew, tables and data sets never had one. A loop over a data set in
graph code runs inside one operation without a gradient; the same loop in eager code is fine (`fixtures/GL206`).

## Example
```python
with tf.GradientTape() as tape:
    scale.assign(tf.exp(log_scale))
    loss = tf.reduce_sum((x / scale) ** 2)
gradient = tape.gradient(loss, log_scale)
```

## Use instead
```python
with tf.GradientTape() as tape:
    scale = tf.exp(log_scale)
    loss = tf.reduce_sum((x / scale) ** 2)
gradient = tape.gradient(loss, log_scale)
```

## Fix safety
No fix: others may read the state.

## References
- [Autodiff guide: took gradients through a stateful object](https://www.tensorflow.org/guide/autodiff#4_took_gradients_through_a_stateful_object)
- [A loop over a data set under a tape](https://github.com/tensorflow/tensorflow/issues/41594)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.knowledge.measured import measured
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL206", "value-through-state", Severity.ERROR, since="0.1.0")
def value_through_state(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.STATE or starved.zero_for_unconnected:
        return None
    why, instead = _words(cut.symbol, cut.code)
    return Finding(
        cut.place,
        f"{starved.consequence}: {why}",
        instead=instead,
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )


def _words(symbol: str, code: str) -> tuple[str, str]:
    if symbol.startswith("keras.metrics."):
        loss = symbol.replace("keras.metrics.", "keras.losses.")
        instead = f"use `{loss}`" if measured(loss) else "use a differentiable loss, and the metric for logs"
        return f"`{code}` is a metric, which keeps numbers", instead
    if symbol == "dataset loop":
        return (
            "graph code loops over a data set inside the tape",
            "open the tape inside the loop, and add up the gradients",
        )
    if symbol in ("dataset element", "reduce"):
        return f"what the data set `{code}` hands out has no history", "use the tensors themselves under the tape"
    return f"what `{code}` keeps has no history", "use the tensor itself, and write the state beside it"
