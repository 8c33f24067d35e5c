"""A weight that computes the output is made with `trainable=False`, and nothing changes it.

## What it does
Finds `add_weight(..., trainable=False)` where the weight computes the output of its layer and no line of the program
assigns to it. Silent about statistics, counters, masks, bounds and tables that are computed once, and about random
features: several drawn weights in one layer, a distribution that was chosen for them, sines and cosines.

## Why it matters
The layer computes with the numbers that it was initialised with.

## What TensorFlow does
The weight is in `non_trainable_variables`, no optimizer gets it, and nothing is printed (`fixtures/GL610`).

## Example
```python
self.kernel = self.add_weight(shape=(shape[-1], 4), trainable=False, name="kernel")
```

## Use instead
```python
self.kernel = self.add_weight(shape=(shape[-1], 4), name="kernel")
```

## Fix safety
No fix: the weight is fixed on purpose in some layers, such as random projections.

## References
- [Making new layers and models via subclassing](https://keras.io/guides/making_new_layers_and_models_via_subclassing/)
"""

from gradlint.flow.model_events import WeightNotTrainable
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL610", "weight-not-trainable", Severity.WARNING, since="0.1.0")
def weight_not_trainable(seen: WeightNotTrainable) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.weight}`, by its name a weight to be trained, never is: it is made with `trainable=False`, "
        "and nothing assigns to it",
        instead="leave out `trainable=False`",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.weight,),
    )
