"""A name that held a variable is bound to a new tensor, and the variable stays as it was.

## What it does
Finds `w = w - rate * gradient` where `w` is asked for again in the next step, on `self` and on global names; and loop
names and parameters that are bound to a new value which nothing reads: `for w, g in zip(weights, gradients): w -= rate
* g`, a soft update of a target network written as an assignment to the loop's name, gradients accumulated or clipped
that way.

## Why it matters
A tensor is not watched: the second step gets `None`. A loop name is only a name: the list and the variables in it never
change, and nothing is printed.

## What TensorFlow does
`keras_variable -= x` makes a tensor and binds the name to it, silently; a tf.Variable refuses (GL212). The next
`tape.gradient` gives `None` for the tensor (`fixtures/GL205`).

## Example
```python
for w, g in zip(model.trainable_variables, gradients):
    w = w - 0.1 * g
```

## Use instead
```python
for w, g in zip(model.trainable_variables, gradients):
    w.assign_sub(0.1 * g)
```

## Fix safety
No fix: other code may count on the tensor.

## References
- [Autodiff guide: replaced a variable with a tensor](https://www.tensorflow.org/guide/autodiff#1_replaced_a_variable_with_a_tensor)
"""

from gradlint.flow.events import Rebinding, VariableRebound
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Cause, Verdict


@rule("GL205", "variable-rebound", Severity.ERROR, since="0.1.0")
def variable_rebound(rebound: VariableRebound) -> Finding | None:
    lost = rebound.rebinding in (Rebinding.LOST, Rebinding.SLICED)
    verdict = Verdict.NEVER_UPDATED if lost else Verdict.NONE
    return Finding(
        rebound.place,
        _words(rebound),
        instead=_instead(rebound),
        trace=rebound.trace,
        verdict=verdict,
        cause=Cause.REBOUND,
        variables=(rebound.name,),
        severity=None if rebound.certain else Severity.WARNING,
    )


def _words(rebound: VariableRebound) -> str:
    match rebound.rebinding:
        case Rebinding.STARVED:
            many = "` and `" in rebound.name
            get, it = ("get", "them tensors") if many else ("gets", "it a tensor")
            return f"`{rebound.name}` {get} None from the second time on: `{rebound.code}` makes {it}"
        case Rebinding.KEPT:
            return f"`{rebound.name}` gets None in the next step: `{rebound.code}` makes it a tensor"
        case Rebinding.SLICED:
            return f"`{rebound.name}` is a copy of a part of a variable, which `{rebound.code}` never changes"
        case Rebinding.LOST if rebound.of_tensors:
            return f"the list that `{rebound.name}` comes from is never updated: `{rebound.code}` binds the name alone"
    return f"`{rebound.name}` is never updated: `{rebound.code}` binds the name alone"


def _instead(rebound: VariableRebound) -> str:
    if rebound.rebinding is Rebinding.SLICED:
        return "assign to the part: `variable[...].assign(...)`"
    if rebound.assigning:
        return f"`{rebound.assigning}`"
    if rebound.of_tensors:
        return "write the new value back into the list, or make a new list"
    return "change each variable in place, with `assign`, `assign_sub` or `assign_add`"
