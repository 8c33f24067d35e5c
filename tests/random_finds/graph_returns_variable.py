"""A variable that a tf.function returns comes out as a tensor: its value when the call was made."""

import tensorflow as tf

w = tf.Variable(2.0)


@tf.function
def f(x):
    return w


y = f(1.0)
with tf.GradientTape() as tape:
    z = y * 1.0
g = tape.gradient(z, w)
