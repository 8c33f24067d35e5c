"""The rules of what a run showed (GL7xx): the probe makes their findings, `gradlint check` never does.

They have no event. `probe/findings.py` words them; here are their codes, names and pages.
"""

from __future__ import annotations

from gradlint.rule import Severity, register_run_rule

NONE_GRADIENT = register_run_rule(
    "GL701",
    "none-gradient",
    Severity.ERROR,
    since="0.1.0",
    page="""
    A run asked for a gradient and got `None`.

    ## What it does
    Reports each cause that left sources of a gradient with `None` while the program ran, with the operation and
    the line where flow is cut, as TensorFlow's own tape tells it.

    ## Why it matters
    The variable is not trained, and TensorFlow says nothing but `None`.

    ## What TensorFlow does
    `tape.gradient` returned `None` for these sources in this run.

    ## Example
        gradient = tape.gradient(tf.round(w), w)

    ## Use instead
        gradient = tape.gradient(tf.square(w), w)

    ## Fix safety
    No fix.

    ## References
    - README, "The probe"
    """,
)

ZERO_GRADIENT = register_run_rule(
    "GL702",
    "zero-gradient",
    Severity.WARNING,
    since="0.1.0",
    page="""
    Every gradient that a run computed for a variable was zero.

    ## What it does
    Reports sources whose gradient had no entry but zero in every observed step. A zero that no numbers can change,
    because the flow is cut inside control flow of a compiled graph, is told from one of the numbers at hand.

    ## Why it matters
    The variable is not trained. In compiled graphs this is how TensorFlow shows what eager code shows as `None`.

    ## What TensorFlow does
    The gradients of these sources were exactly zero, or zero but for rounding, at every step.

    ## Example
        loss = tf.reduce_mean(tf.nn.softmax(logits_of_one_unit))

    ## Use instead
        loss = tf.reduce_mean(tf.nn.sigmoid(logits_of_one_unit))

    ## Fix safety
    No fix.

    ## References
    - README, "The probe"
    """,
)

NAN_GRADIENT = register_run_rule(
    "GL703",
    "nan-gradient",
    Severity.ERROR,
    since="0.1.0",
    page="""
    A gradient was NaN or infinite in a run.

    ## What it does
    Reports sources whose gradient was not finite in some step, with the first such step and the operation where
    it began.

    ## Why it matters
    One update with NaN ends a training: every weight is NaN from then on.

    ## What TensorFlow does
    The gradients of these sources held NaN or infinity.

    ## Example
        loss = tf.where(x > 0, tf.math.log(x), 0.0)

    ## Use instead
        loss = tf.where(x > 0, tf.math.log(tf.where(x > 0, x, 1.0)), 0.0)

    ## Fix safety
    No fix.

    ## References
    - README, "The probe"
    """,
)

UNTRAINED_VARIABLE = register_run_rule(
    "GL704",
    "untrained-variable",
    Severity.WARNING,
    since="0.1.0",
    page="""
    A trainable variable never reached an optimizer in a run.

    ## What it does
    Reports trainable variables of which gradients were asked, or that a trained model holds, and which no optimizer got
    although it was applied.

    ## Why it matters
    The variable keeps its first value while the rest of the model is trained.

    ## What TensorFlow does
    The variable was the same, bit by bit, before the first and after the last update.

    ## Example
        optimizer.apply_gradients(zip(gradients, head.trainable_variables))

    ## Use instead
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    ## Fix safety
    No fix.

    ## References
    - README, "The probe"
    """,
)

FROZEN_MOVED = register_run_rule(
    "GL705",
    "frozen-variable-moved",
    Severity.ERROR,
    since="0.1.0",
    page="""
    A variable or entry that is frozen moved in a run.

    ## What it does
    Reports variables whose `trainable` is false and which an optimizer moved, and entries that were declared frozen
    (`probe.updates(..., mask=...)`) and moved.

    ## Why it matters
    What was meant to be kept is lost.

    ## What TensorFlow does
    The values differed before and after.

    ## Example
        variables = model.trainable_variables
        model.layers[0].trainable = False
        optimizer.apply(gradients, variables)

    ## Use instead
        model.layers[0].trainable = False
        variables = model.trainable_variables
        optimizer.apply(gradients, variables)

    ## Fix safety
    No fix.

    ## References
    - README, "The probe"
    """,
)

EMPTY_SOURCES = register_run_rule(
    "GL706",
    "no-sources",
    Severity.ERROR,
    since="0.1.0",
    page="""
    A gradient was asked for an empty list of sources.

    ## What it does
    Reports gradient calls that got no source at all.

    ## Why it matters
    Nothing is trained, and nothing is said: the list of a model that is not built yet is empty.

    ## What TensorFlow does
    `tape.gradient(loss, [])` returned an empty list.

    ## Example
        variables = model.trainable_variables  # before the model is built
        gradients = tape.gradient(loss, variables)

    ## Use instead
        gradients = tape.gradient(loss, model.trainable_variables)

    ## Fix safety
    No fix.

    ## References
    - README, "The probe"
    """,
)

UNOBSERVED = register_run_rule(
    "GL707",
    "unobserved-function",
    Severity.INFO,
    since="0.1.0",
    page="""
    A function was compiled before the watch, and could not be observed.

    ## What it does
    Reports calls of a `tf.function` that was traced before the watch began.

    ## Why it matters
    Silence about what runs in it means nothing.

    ## What TensorFlow does
    A compiled function runs no Python, so that no gradient call in it can be seen.

    ## Example
        step(x)
        with probe.watch():
            step(x)

    ## Use instead
        with probe.watch():
            step(x)

    ## Fix safety
    No fix.

    ## References
    - README, "The probe"
    """,
)

PARTIAL_ZERO = register_run_rule(
    "GL708",
    "partial-zero-gradient",
    Severity.INFO,
    since="0.1.0",
    page="""
    Some entries of a variable never got a gradient in a run.

    ## What it does
    Reports variables of which most entries had a gradient of exactly zero in every observed step.

    ## Why it matters
    Often harmless (rows of an embedding that no batch named, units that never fired), sometimes a loss that reads
    only a part.

    ## What TensorFlow does
    These entries of the gradient were exactly zero at every step.

    ## Example
        loss = tf.reduce_mean(prediction[:, 0])

    ## Use instead
        loss = tf.reduce_mean(prediction)

    ## Fix safety
    No fix.

    ## References
    - README, "The probe"
    """,
)

MISMATCHED_PAIR = register_run_rule(
    "GL709",
    "mismatched-pair",
    Severity.ERROR,
    since="0.1.0",
    page="""
    An optimizer got the gradient of one variable paired with another.

    ## What it does
    Reports variables that were updated with the gradient of another variable of the same update, as it came from the
    tape.

    ## Why it matters
    Where shapes agree nothing fails: each variable is moved by what was computed for the other.

    ## What TensorFlow does
    `optimizer.apply_gradients` pairs by place in the list, and compares nothing but shapes.

    ## Example
        gradients = tape.gradient(loss, [a, b])
        optimizer.apply_gradients(zip(gradients, [b, a]))

    ## Use instead
        variables = [a, b]
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables))

    ## Fix safety
    No fix.

    ## References
    - README, "The probe"
    """,
)

OBSERVED = frozenset(
    each.code
    for each in (
        NONE_GRADIENT,
        ZERO_GRADIENT,
        NAN_GRADIENT,
        UNTRAINED_VARIABLE,
        FROZEN_MOVED,
        EMPTY_SOURCES,
        UNOBSERVED,
        PARTIAL_ZERO,
        MISMATCHED_PAIR,
    )
)
