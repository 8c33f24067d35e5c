"""The attribute that is asked for is rebound in a try after the target was computed."""

import tensorflow as tf


class Holder:
    pass


w = tf.Variable(2.0)
m = Holder()
with tf.GradientTape() as tape:
    m.a = w * 3.0
    y = m.a * m.a
    try:
        m.a = w * 2.0
    except ValueError:
        pass
    finally:
        g = tape.gradient(y, m.a)
