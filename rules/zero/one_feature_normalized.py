"""A normalisation runs over one entry, and its result is constant.

## What it does
Finds a `LayerNormalization` (or a normalisation by groups) that is given one entry to normalise, and
`x - tf.reduce_mean(x, axis=-1, keepdims=True)` where the last axis has length 1.

## Why it matters
One entry minus its mean is 0. What comes after learns from a constant, and what comes before does not learn.

## What TensorFlow does
The result is `beta` for every example. The layers before it and `gamma` get exactly zero; `beta` and the layers after
it train. `BatchNormalization` takes its mean over the batch, and is not concerned (`fixtures/GL502`).

## Example
```python
x = keras.layers.Dense(1)(x)
x = keras.layers.LayerNormalization()(x)
```

## Use instead
```python
x = keras.layers.LayerNormalization()(x)
x = keras.layers.Dense(1)(x)
```

## Fix safety
No fix: whether the normalisation or the single unit is meant is the author's to say.

## References
- [LayerNormalization](https://keras.io/api/layers/normalization_layers/layer_normalization/)
"""

from gradlint.flow.zero_events import OneFeatureNormalized
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL502", "one-feature-normalized", Severity.ERROR, since="0.1.0")
def one_feature_normalized(seen: OneFeatureNormalized) -> Finding:
    why = "it normalises one entry" if seen.layer else "it is one entry minus its mean"
    return Finding(
        seen.place,
        f"`{seen.code}` is constant, and what comes before it gets zero: {why}",
        instead="normalise several entries, or none",
        trace=seen.trace,
        verdict=Verdict.ZERO,
        severity=None if seen.certain else Severity.WARNING,
    )
