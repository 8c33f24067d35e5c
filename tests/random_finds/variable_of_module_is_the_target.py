"""The target is the one variable that the module holds, and the tape watches nothing."""

import tensorflow as tf

w = tf.Variable(2.0)


class Model(tf.Module):
    def __init__(self):
        self.w = w


model = Model()
with tf.GradientTape(watch_accessed_variables=False) as tape:
    pass
g = tape.gradient(w, model.trainable_variables)
