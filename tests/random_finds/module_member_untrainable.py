"""A variable that is not trainable is no member of trainable_variables."""

import tensorflow as tf

w = tf.Variable(1.5, trainable=False)


class Model(tf.Module):
    def __init__(self):
        self.own = tf.Variable(2.0)
        self.other = w


m = Model()
with tf.GradientTape() as tape:
    tape.watch(w)
    y = w * 1.0
g = tape.gradient(y, m.trainable_variables)
