"""convert_to_tensor, cast to the same type and add_n of one hand back the tensor itself."""

import keras
import tensorflow as tf

w = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    y = w * w
a = tape.gradient(tf.convert_to_tensor(y), w)
b = tape.gradient(tf.cast(y, tf.float32), w)
c = tape.gradient(tf.add_n([y]), w)
d = tape.gradient(keras.ops.convert_to_tensor(y), w)
e = tape.gradient(max([y, y], key=lambda z: 1), w)
