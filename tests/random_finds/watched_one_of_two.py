"""Watching what an iterator hands out watches one tensor, not all that it could hand out."""

import tensorflow as tf

c = tf.constant(1.2)
x = next(iter([c + 1.0, c]))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = c * 2.0
g = tape.gradient(y, c)
