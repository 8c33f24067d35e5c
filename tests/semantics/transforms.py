"""Functions that TensorFlow runs. One program per cell, marked as `flow_programs.py` says."""

import numpy as np
import tensorflow as tf

w = tf.Variable(2.0, name="w")
x = tf.constant([1.0, 2.0])

# %% tf.function: the tape inside
@tf.function
def step(value):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * value)
    return tape.gradient(loss, w)


step(x)

# %% tf.function: the loss before the tape
@tf.function(reduce_retracing=True)
def step(value):
    loss = tf.reduce_sum(w * value)  # cut: outside-tape
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(loss, w)


step(x)

# %% tf.function called under an eager tape
@tf.function
def forward(value):
    return tf.reduce_sum(w * value)


with tf.GradientTape() as tape:
    loss = forward(x)
tape.gradient(loss, w)

# %% tf.function called before an eager tape
forward = tf.function(lambda value: tf.reduce_sum(w * value))
loss = forward(x)  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% strategy.run
strategy = tf.distribute.get_strategy()


def step(value):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * value)
    return tape.gradient(loss, w)


strategy.run(step, args=(x,))

# %% strategy.run: the loss before the tape
strategy = tf.distribute.get_strategy()


def step(value):
    loss = tf.reduce_sum(w * value)  # cut: outside-tape
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(loss, w)


strategy.run(step, args=(x,))

# %% tf.cond under the tape
with tf.GradientTape() as tape:
    loss = tf.cond(tf.reduce_sum(x) > 0.0, lambda: w * 2.0, lambda: w * 3.0)
tape.gradient(loss, w)

# %% tf.cond before the tape
loss = tf.cond(tf.reduce_sum(x) > 0.0, lambda: w * 2.0, lambda: w * 3.0)  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% tf.while_loop under the tape
with tf.GradientTape() as tape:
    _, loss = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + w), [tf.constant(0), tf.constant(0.0)])
tape.gradient(loss, w)  # undecided: flows

# %% tf.while_loop before the tape
_, loss = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + w), [tf.constant(0), tf.constant(0.0)])  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% tf.map_fn under the tape
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.map_fn(lambda each: each * w, x))
tape.gradient(loss, w)

# %% tf.map_fn before the tape
mapped = tf.map_fn(lambda each: each * w, x)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(mapped)
tape.gradient(loss, w)

# %% tf.scan under the tape
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.scan(lambda a, each: a + each * w, x, initializer=0.0))
tape.gradient(loss, w)  # undecided: flows

# %% tf.foldl before the tape
folded = tf.foldl(lambda a, each: a + each * w, x, initializer=0.0)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = folded * 2.0
tape.gradient(loss, w)

# %% tf.vectorized_map under the tape
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.vectorized_map(lambda each: each * w, x))
tape.gradient(loss, w)

# %% tf.vectorized_map before the tape
mapped = tf.vectorized_map(lambda each: each * w, x)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(mapped)
tape.gradient(loss, w)

# %% tf.recompute_grad under the tape
block = tf.recompute_grad(lambda value: tf.reduce_sum(value * w))
with tf.GradientTape() as tape:
    loss = block(x)
tape.gradient(loss, w)

# %% tf.recompute_grad before the tape
block = tf.recompute_grad(lambda value: tf.reduce_sum(value * w))
loss = block(x)  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% tf.py_function is differentiable in eager code
with tf.GradientTape() as tape:
    hidden = w * x
    loss = tf.reduce_sum(tf.py_function(lambda value: value * 2.0, [hidden], tf.float32))
tape.gradient(loss, w)

# %% tf.py_function before the tape
hidden = tf.py_function(lambda value: value * 2.0, [w * x], tf.float32)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(hidden)
tape.gradient(loss, w)

# %% tf.custom_gradient under the tape
@tf.custom_gradient
def doubled(value):
    def backward(upstream):
        return upstream * 2.0

    return value * 2.0, backward


with tf.GradientTape() as tape:
    loss = doubled(w)
tape.gradient(loss, w)

# %% tf.custom_gradient before the tape
@tf.custom_gradient
def doubled(value):
    def backward(upstream):
        return upstream * 2.0

    return value * 2.0, backward


early = doubled(w)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = early * 2.0
tape.gradient(loss, w)

# %% a dataset feeds the steps
data = tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]]).batch(1)
for batch in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * batch)
    tape.gradient(loss, w)

# %% a TensorArray under the tape
with tf.GradientTape() as tape:
    array = tf.TensorArray(tf.float32, size=2)
    for i in range(2):
        array = array.write(i, w * x[i])
    loss = tf.reduce_sum(array.stack())
tape.gradient(loss, w)

# %% autograph: a Python loop over a tensor, the tape around it
@tf.function
def step(values):
    with tf.GradientTape() as tape:
        loss = tf.constant(0.0)
        for value in values:
            loss += w * value
    return tape.gradient(loss, w)


step(x)

# %% tf.switch_case under the tape
with tf.GradientTape() as tape:
    loss = tf.switch_case(tf.constant(0), [lambda: w * 2.0, lambda: w * 3.0])
tape.gradient(loss, w)
