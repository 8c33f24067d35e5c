"""A network is given the weights of another one whose layers it shares.

## What it does
Finds `target.set_weights(online.get_weights())` where `target` was made from the inputs and outputs of `online`, or is
just another name for it.

## Why it matters
The target network is no copy: it moves with every step of the other one, and the synchronisation does nothing. Values
are bootstrapped from the network that is trained, a teacher follows its student at once.

## What TensorFlow does
`keras.Model(online.inputs, online.outputs)` is a new model of the same layers, with the same variables
(`fixtures/GL613`).

## Example
```python
target = keras.Model(online.inputs, online.outputs)
target.set_weights(online.get_weights())
```

## Use instead
```python
target = keras.models.clone_model(online)
target.set_weights(online.get_weights())
```

## Fix safety
No fix: layers with state of their own are cloned from their configuration.

## References
- [keras.models.clone_model](https://www.tensorflow.org/api_docs/python/tf/keras/models/clone_model)
- [The Functional API: shared layers](https://keras.io/guides/functional_api/#shared-layers)
"""

from gradlint.flow.model_events import CopyShared
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL613", "copy-shares-layers", Severity.ERROR, since="0.1.0")
def copy_shares_layers(seen: CopyShared) -> Finding:
    shared = "it is another name of" if seen.is_same else "it has the very layers of"
    return Finding(
        seen.place,
        f"`{seen.target}` is no copy: {shared} `{seen.online}`, and moves with it",
        instead=f"make it by `keras.models.clone_model({seen.online})`",
        trace=seen.trace,
        verdict=Verdict.WRONG_UPDATE,
        variables=(seen.target,),
        severity=None if seen.certain else Severity.WARNING,
    )
