"""Ways to differentiate. One program per cell, marked as `flow_programs.py` says."""

import keras
import tensorflow as tf

w = tf.Variable(2.0, name="w")
x = tf.constant([1.0, 2.0])

# %% jacobian
vector = tf.Variable([1.0, 2.0], name="w")
with tf.GradientTape() as tape:
    values = vector * x
tape.jacobian(values, vector)

# %% jacobian of what was computed before the tape
vector = tf.Variable([1.0, 2.0], name="w")
values = vector * x  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.jacobian(values, vector)

# %% jacobian of a slice taken after the tape
vector = tf.Variable([1.0, 2.0], name="w")
with tf.GradientTape() as tape:
    values = vector * x
first = values[:1]  # cut: outside-tape
tape.jacobian(first, vector)

# %% batch_jacobian
rows = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(rows)
    squares = rows * rows
tape.batch_jacobian(squares, rows)

# %% minimize with a tape
optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
optimizer.minimize(lambda: tf.reduce_sum(w * x), var_list=[w])

# %% the optimizer's own minimize in Keras 2 style: compute with a tape, apply by hand
optimizer = keras.optimizers.SGD(0.1)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * x)
optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))

# %% tf.gradients in a graph
@tf.function
def step(value):
    loss = tf.reduce_sum(w * value)
    return tf.gradients(loss, [w])  # undecided: flows


step(x)

# %% tf.gradients in a graph, of something else
@tf.function
def step(value):
    loss = tf.reduce_sum(value)
    return tf.gradients(loss, [w])  # undecided: none


step(x)

# %% ForwardAccumulator
with tf.autodiff.ForwardAccumulator(w, tf.constant(1.0)) as accumulator:
    loss = w * w
accumulator.jvp(loss)

# %% ForwardAccumulator: computed before it opens
loss = w * w  # cut: outside-tape
with tf.autodiff.ForwardAccumulator(w, tf.constant(1.0)) as accumulator:
    pass
accumulator.jvp(loss)

# %% second order: the first gradient inside the outer tape
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        loss = w * w * w
    first = inner.gradient(loss, w)
outer.gradient(first, w)

# %% second order: the first gradient outside the outer tape
with tf.GradientTape(persistent=True) as outer:
    with tf.GradientTape() as inner:
        loss = w * w * w
first = inner.gradient(loss, w)  # cut: outside-tape
outer.gradient(first, w)

# %% third order
with tf.GradientTape() as third:
    with tf.GradientTape() as second:
        with tf.GradientTape() as first:
            loss = w**4
        d1 = first.gradient(loss, w)
    d2 = second.gradient(d1, w)
third.gradient(d2, w)

# %% gradient penalty inside the outer tape
with tf.GradientTape() as outer:
    sample = tf.identity(x)
    with tf.GradientTape() as inner:
        inner.watch(sample)
        score = tf.reduce_sum(tf.square(sample) * w)
    slope = inner.gradient(score, sample)
    loss = tf.reduce_mean(tf.square(tf.norm(slope) - 1.0))
outer.gradient(loss, w)

# %% gradient penalty computed before the outer tape
with tf.GradientTape() as inner:
    sample = tf.identity(x)
    inner.watch(sample)
    score = tf.reduce_sum(tf.square(sample) * w)
slope = inner.gradient(score, sample)  # cut: outside-tape
with tf.GradientTape() as outer:
    loss = tf.reduce_mean(tf.square(tf.norm(slope) - 1.0))
outer.gradient(loss, w)

# %% an inner update that keeps the way open (MAML)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        loss = tf.reduce_sum((w * x) ** 2)
    fast = w - 0.1 * inner.gradient(loss, w)
    total = tf.reduce_sum((fast * x) ** 2)
outer.gradient(total, w)

# %% the inner update runs before the outer tape
with tf.GradientTape() as inner:
    loss = tf.reduce_sum((w * x) ** 2)
fast = w - 0.1 * inner.gradient(loss, w)  # cut: outside-tape
with tf.GradientTape() as outer:
    total = tf.reduce_sum((fast * x) ** 2)
outer.gradient(total, w)

# %% gradient and update in two functions
optimizer = keras.optimizers.Adam(0.1)


def gradients_of(value):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * value)
    return tape.gradient(loss, [w])


def update(gradients):
    optimizer.apply_gradients(zip(gradients, [w]))


update(gradients_of(x))

# %% tfp-style value_and_gradient helper
def value_and_gradient(function, variable):
    with tf.GradientTape() as tape:
        value = function(variable)
    return value, tape.gradient(value, variable)


value_and_gradient(lambda variable: tf.reduce_sum(variable * x), w)

# %% value_and_gradient helper over a tensor that it does not watch
def value_and_gradient(function, point):
    with tf.GradientTape() as tape:
        value = function(point)
    return value, tape.gradient(value, point)  # cut: not-watched


value_and_gradient(lambda point: tf.reduce_sum(point * x), tf.constant(2.0))
