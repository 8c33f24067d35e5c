"""An operation recorded for the other input gives nothing to an input that is watched only afterwards."""

import tensorflow as tf

v = tf.Variable(1.5)
w = tf.Variable(0.5)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(v)
    y = v * w
    tape.watch(w)
g = tape.gradient(y, w)
