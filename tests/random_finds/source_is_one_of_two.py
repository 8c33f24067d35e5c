"""The source is one of two variables: the target depends on the one that it is not."""

import time

import tensorflow as tf

v = tf.Variable(1.5)
w = tf.Variable(1.5)
with tf.GradientTape() as tape:
    y = v * v
    x = v
    if time.time() > 0:
        x = w
g = tape.gradient(y, x)
