"""The module holds the variable on a way that is not taken."""

import sys

import tensorflow as tf

w = tf.Variable(0.5)


class Model(tf.Module):
    def __init__(self):
        self.own = tf.Variable(1.5)


m = Model()
if len(sys.argv) > 5:
    m.other = w
with tf.GradientTape() as tape:
    y = w * 2.0
g = tape.gradient(y, m.trainable_variables)
