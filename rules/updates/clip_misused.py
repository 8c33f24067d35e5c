"""The result of a clipping function is not what the code takes it for.

## What it does
Finds the pair `(gradients, norm)` that `tf.clip_by_global_norm` returns used as the list of gradients, that function
called with one tensor, and `tf.clip_by_norm` or `tf.clip_by_value` called with a list.

## Why it matters
The step raises, or the gradients are clipped by their joint norm as if they were one.

## What TensorFlow does
`zip(tf.clip_by_global_norm(...), variables)` raises InvalidArgumentError when the pairs are applied; a tensor for the
list raises TypeError; `clip_by_norm` of a list stacks its elements into one tensor, or raises InvalidArgumentError
when their shapes differ (`fixtures/GL409`).

## Example
```python
gradients = tf.clip_by_global_norm(gradients, 1.0)
optimizer.apply_gradients(zip(gradients, variables))
```

## Use instead
```python
gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
optimizer.apply_gradients(zip(gradients, variables))
```

## Fix safety
No fix yet.

## References
- [tf.clip_by_global_norm](https://www.tensorflow.org/api_docs/python/tf/clip_by_global_norm)
"""

from gradlint.flow.update_events import ClipMisused
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL409", "clip-misused", Severity.ERROR, since="0.1.0")
def clip_misused(seen: ClipMisused) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.function}` {seen.problem}",
        instead="`gradients, norm = tf.clip_by_global_norm(gradients, limit)`"
        if seen.function.endswith("global_norm")
        else "clip each gradient: `[tf.clip_by_norm(g, limit) for g in gradients]`",
        trace=seen.trace,
        verdict=Verdict.RAISES if seen.raises else Verdict.WRONG_UPDATE,
        severity=None if seen.certain else Severity.WARNING,
    )
