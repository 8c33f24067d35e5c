"""The target is the unwatched source on the way that is taken."""

import time

import tensorflow as tf

c = tf.constant(1.2)
y = c if time.time() > 0 else tf.constant(2.0)
with tf.GradientTape() as tape:
    pass
g = tape.gradient(y, c)
