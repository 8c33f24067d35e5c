"""A layer, variable or optimizer is replaced after a tf.function read it.

## What it does
Finds a layer, model, variable or optimizer from outside (an attribute, a global, a name of the enclosing function) that
a tf.function used when it was traced, that another one takes the place of afterwards, and the function called again.

## Why it matters
The function goes on with the old one: a network that has grown is not trained, a new optimizer never steps, a model
that was loaded anew is left as it is.

## What TensorFlow does
A graph holds the variables that it met when it was traced. A new object among the *arguments* of the call makes
TensorFlow trace again; attributes and globals do not (`fixtures/GL441`).

## Example
```python
@tf.function
def step(self, x):
    with tf.GradientTape() as tape:
        loss = self.loss_of(self.net(x))
    self.update(tape.gradient(loss, self.net.trainable_variables))


trainer.net = grow(trainer.net)  # `step` trains the old one
```

## Use instead
```python
trainer.net = grow(trainer.net)
trainer.step = tf.function(trainer.step.python_function)
```

## Fix safety
No fix: a new trace costs time, and where it is wanted is for the author to say.

## References
- [tf.function: changing Python global and free variables](https://www.tensorflow.org/guide/function#changing_python_global_and_free_variables)
"""

from gradlint.flow.update_events import ObjectTraced
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL441", "object-traced", Severity.WARNING, since="0.1.0")
def object_traced(seen: ObjectTraced) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.function}` goes on with the old `{seen.name}`: a graph keeps the objects that it was traced with",
        instead=f"make the tf.function anew where `{seen.name}` is replaced, or pass it as an argument",
        trace=seen.trace,
        verdict=Verdict.NEVER_UPDATED,
        variables=(seen.name,),
    )
