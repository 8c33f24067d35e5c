"""A network that tells another one what to compute is trained by the same step.

## What it does
Finds a model that holds a part called teacher, ema, frozen, momentum encoder or target network, and whose step trains
all of `trainable_variables`, that part with it, by a loss that the part computes.

## Why it matters
The teacher follows the student: the loss goes down because the teacher forgets what it knew. A target network that is
trained with the online one gives values that chase themselves.

## What TensorFlow does
A Keras model holds the variables of all that is assigned to it. Without `trainable = False` or `stop_gradient` they are
among `trainable_variables`, and get gradients like the others (`fixtures/GL425`).

## Example
```python
with tf.GradientTape() as tape:
    loss = distance(self.student(x), self.teacher(x))
variables = self.trainable_variables
self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
```

## Use instead
```python
with tf.GradientTape() as tape:
    loss = distance(self.student(x), self.teacher(x))
variables = self.student.trainable_variables
self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
```

## Fix safety
No fix: `teacher.trainable = False` in the constructor does the same, and changes what is saved as trainable.

## References
- [Knowledge distillation](https://keras.io/examples/vision/knowledge_distillation/)
"""

from gradlint.flow.update_events import TeacherTrained
from gradlint.rule import Finding, Severity, rule
from gradlint.verdicts import Verdict


@rule("GL425", "teacher-trained", Severity.WARNING, since="0.1.0")
def teacher_trained(seen: TeacherTrained) -> Finding:
    return Finding(
        seen.place,
        f"`{seen.teacher}`, by its name a teacher, is trained as well: `{seen.trained}` holds its variables, "
        "and the loss depends on it",
        instead=f"leave out the variables of `{seen.teacher}`, or freeze it by `{seen.teacher}.trainable = False`",
        trace=seen.trace,
        verdict=Verdict.FROZEN_MOVED,
        variables=(seen.teacher,),
    )
