"""A tf.function that returns its argument returns another tensor."""

import tensorflow as tf

c = tf.constant(2.0)


@tf.function
def f(x):
    return x


with tf.GradientTape() as tape:
    tape.watch(c)
    y = f(c)
z = f(c)
g = tape.gradient(y, z)
