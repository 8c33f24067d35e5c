"""A NumPy copy of a variable is written into, and never read again.

## What it does
Finds item assignments into `v.numpy()`, into an array of `get_weights()`, or into a name that holds one of them and
that nothing reads afterwards.

## Why it matters
The variable keeps its values: what was meant to be silenced, pruned or restored is not. Nothing is raised.

## What TensorFlow does
`.numpy()` of a variable and `get_weights()` return copies (`fixtures/GL307`).

## Example
```python
kernel = layer.kernel.numpy()
kernel[:, dead_units] = 0.0
```

## Use instead
```python
kernel = layer.kernel.numpy()
kernel[:, dead_units] = 0.0
layer.kernel.assign(kernel)
```

## Fix safety
No fix yet.

## References
- [Variable.numpy](https://www.tensorflow.org/api_docs/python/tf/Variable#numpy)
- [keras#11143](https://github.com/keras-team/keras/issues/11143)
"""

from gradlint.flow.update_events import CopyWritten
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL307", "copy-written", Severity.ERROR, since="0.1.0")
def copy_written(seen: CopyWritten) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.code} = ...` changes a copy: `{seen.copied}` returns one, and nothing reads it afterwards",
        instead="write it back: `variable.assign(array)`, `layer.set_weights(arrays)`",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.copied,),
        severity=None if seen.certain else Severity.WARNING,
    )
