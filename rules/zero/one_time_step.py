"""A recurrent layer runs over one time step.

## What it does
Finds an LSTM, GRU or SimpleRNN whose input has one time step, without a state from elsewhere: `stateful=True` and
`initial_state` are normal and not reported.

## Why it matters
The layer has no memory: it is a dense layer with gates. A window that should be read step by step is read as one step
with many features.

## What TensorFlow does
The recurrent kernel meets a state of zeros and nothing else: it gets exactly zero, and the rest trains
(`fixtures/GL518`).

## Example
```python
x = windows.reshape(-1, 1, 8)
model = keras.Sequential([keras.Input((1, 8)), keras.layers.LSTM(16), keras.layers.Dense(1)])
```

## Use instead
```python
x = windows.reshape(-1, 8, 1)
model = keras.Sequential([keras.Input((8, 1)), keras.layers.LSTM(16), keras.layers.Dense(1)])
```

## Fix safety
No fix: which axis is time is the author's to say.

## References
- [Working with RNNs](https://www.tensorflow.org/guide/keras/working_with_rnns)
"""

from gradlint.flow.zero_events import OneTimeStep
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL518", "one-time-step", Severity.WARNING, since="0.1.0")
def one_time_step(seen: OneTimeStep) -> Finding:
    return Finding(
        seen.place,
        f"the recurrent kernel of `{seen.layer}` gets zero: it runs over one time step, from a state of zeros",
        instead="give it a sequence of several steps: the shape is (batch, steps, features)",
        trace=seen.trace,
        verdict=Verdict.ZERO,
    )
