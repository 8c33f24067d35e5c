"""A scatter is given a flat list of indices where each index has to be a row.

## What it does
Finds `scatter_nd_*` and `tensor_scatter_nd_*` whose indices are a flat list (`[0, 2]`) and whose updates are several,
so that several places were meant; updates of another shape than the places that are indexed; and `scatter_sub` and
its likes given a tensor instead of tf.IndexedSlices.

## Why it matters
`[0, 2]` is one place, row 0 and column 2. Outside a graph the methods of variables then write one element and say
nothing.

## What TensorFlow does
Methods of variables in eager code write the first element alone, in silence; in a `tf.function` they raise
ValueError; the functions `tf.tensor_scatter_nd_*` raise InvalidArgumentError in eager code, and so do updates that do
not fit. `scatter_sub` of a tensor raises TypeError (`fixtures/GL305`).

## Example
```python
table.scatter_nd_sub([0, 2], rate * gradients)
```

## Use instead
```python
table.scatter_nd_sub([[0], [2]], rate * gradients)
```

## Fix safety
No fix yet.

## References
- [Variable.scatter_nd_sub](https://www.tensorflow.org/api_docs/python/tf/Variable#scatter_nd_sub)
"""

from gradlint.flow.update_events import IndicesMisfit
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL305", "indices-misfit", Severity.ERROR, since="0.1.0")
def indices_misfit(seen: IndicesMisfit) -> Finding:
    consequence = f"raises {seen.raises}" if seen.raises else "writes one element alone"
    return Finding(
        seen.place,
        f"`{seen.method}` {consequence}: {seen.why}",
        instead=seen.instead,
        trace=seen.trace,
        verdict=Verdict.RAISES if seen.raises else Verdict.WRONG_UPDATE,
        severity=None if seen.certain else Severity.WARNING,
    )
