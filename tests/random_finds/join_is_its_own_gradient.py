"""A target that is the very source flows, watched or not, also where two ways give it."""

import sys

import tensorflow as tf

c = tf.constant(1.2)
y = tf.constant(2.0)
if len(sys.argv) > 5:
    y = c
with tf.GradientTape() as tape:
    pass
g = tape.gradient(y, y)
