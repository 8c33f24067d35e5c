"""A layer is called, and no output is computed from what it returns.

## What it does
Finds a call of a layer with weights whose result is dropped, or bound to a name that nothing reads on the way to an
output: in `call`, a helper, or the lines that make a functional model. Silent where the call itself has an effect: it
builds the layer, adds a loss, or changes a state.

## Why it matters
The layer costs time and does not take part. Most often the next line reads the name of the line before.

## What TensorFlow does
In `call` the layer is built, and its variables get `None`; `fit` warns "Gradients do not exist for variables". A
functional model does not hold the layer at all, and nothing is printed (`fixtures/GL602`).

## Example
```python
def call(self, x):
    hidden = self.first(x)
    deeper = self.second(hidden)
    return self.head(hidden)
```

## Use instead
```python
def call(self, x):
    hidden = self.first(x)
    deeper = self.second(hidden)
    return self.head(deeper)
```

## Fix safety
No fix: which of the values was meant depends on the model.

## References
- [The functional API](https://keras.io/guides/functional_api/)
"""

from gradlint.flow.model_events import LayerOutputDropped
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL602", "layer-output-dropped", Severity.WARNING, since="0.1.0")
def layer_output_dropped(seen: LayerOutputDropped) -> Finding:
    result = f"`{seen.name}`" if seen.name else "what it returns"
    return Finding(
        seen.place,
        f"`{seen.layer}` is never trained: no output is computed from {result}",
        instead=f"compute the output from {result}, or remove the call",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.layer,),
    )
