"""An integer or boolean tensor lies on the only way to the loss.

## What it does
Finds casts to an integer type and back, 8-bit round trips of images, `map_fn` with an integer output and integer
variables, where every way from a source to the target passes through one.

## Why it matters
The cast back to float hides it: the loss is a float, and nothing is learned.

## What TensorFlow does
Integers have no gradient: it is `None` for all that lies behind them, and for an integer variable itself
(`fixtures/GL203`).

## Example
```python
with tf.GradientTape() as tape:
    pixels = tf.cast(generator(z) * 255.0, tf.uint8)
    loss = tf.reduce_mean(tf.square(tf.cast(pixels, tf.float32) / 255.0 - images))
gradients = tape.gradient(loss, generator.trainable_variables)
```

## Use instead
```python
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(generator(z) - images))
gradients = tape.gradient(loss, generator.trainable_variables)
```

## Fix safety
No fix: without the cast the values are not rounded.

## References
- [Autodiff guide: took gradients through an integer or string](https://www.tensorflow.org/guide/autodiff#3_took_gradients_through_an_integer_or_string)
"""

from gradlint.flow.events import SourcesStarved
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause


@rule("GL203", "integer-on-the-way", Severity.ERROR, since="0.1.0")
def integer_on_the_way(starved: SourcesStarved) -> Finding | None:
    cut = starved.cut
    if cut.cause is not Cause.INTEGER or starved.zero_for_unconnected:
        return None
    if cut.symbol == "<boolean-product>":
        return None  # boolean-product
    if not cut.symbol:  # no operation on the way: the source itself
        why, instead = f"`{cut.code}` is an integer variable", "make it a float, as in `tf.Variable(3.0)`"
    else:
        why, instead = f"`{cut.code}` makes integers", "stay in floats on the way to the loss, and cast a copy for logs"
    return Finding(
        cut.place,
        f"{starved.consequence}: {why}",
        instead=instead,
        trace=starved.trace,
        severity=Severity.WARNING if cut.assumed else None,
    )
