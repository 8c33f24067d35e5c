"""A keras layer does not count a tf.Variable set as attribute among its trainable variables."""

import keras
import tensorflow as tf

w = tf.Variable(1.5)


class Scale(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        return x * self.scale


m = Scale()
z = m(tf.constant(1.2))
m.kept = w
with tf.GradientTape() as tape:
    y = w * 2.0
g = tape.gradient(y, m.trainable_variables)
