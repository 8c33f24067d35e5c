"""An unwatched source in a list of targets of which another was recorded gets None."""

import tensorflow as tf

w = tf.Variable(0.5)
c = tf.constant(1.2)
with tf.GradientTape() as tape:
    y = w * c
g = tape.gradient([c, y], c)
