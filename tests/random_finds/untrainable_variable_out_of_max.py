"""Python's max hands back one of its arguments: the variable itself."""

import tensorflow as tf

w = tf.Variable(0.5, trainable=False)
y = max([w, 0.7], key=lambda z: 1)
with tf.GradientTape() as tape:
    pass
g = tape.gradient(y, w)
