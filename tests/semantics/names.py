"""Import styles: every program brings its own imports. One program per cell, marked as `flow_programs.py` says."""

# %% import tensorflow
import tensorflow

w = tensorflow.Variable(2.0, name="w")
with tensorflow.GradientTape() as tape:
    loss = w * w
tape.gradient(loss, w)

# %% import tensorflow, before the tape
import tensorflow

w = tensorflow.Variable(2.0, name="w")
loss = w * w  # cut: outside-tape
with tensorflow.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% from tensorflow import names with aliases
from tensorflow import GradientTape as T, Variable as V, exp as e

w = V(2.0, name="w")
with T() as t:
    loss = e(w)
t.gradient(loss, w)

# %% from tensorflow import names with aliases, before the tape
from tensorflow import GradientTape as T, Variable as V, exp as e

w = V(2.0, name="w")
scale = e(w)  # cut: outside-tape
with T() as t:
    loss = scale * 2.0
t.gradient(loss, w)

# %% keras = tf.keras, K = keras.backend
import tensorflow as tf

keras = tf.keras
layer = keras.layers.Dense(1)
layer.build((None, 2))
x = tf.ones([1, 2])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(x))
tape.gradient(loss, layer.trainable_variables)

# %% keras = tf.keras, the layer called before the tape
import tensorflow as tf

keras = tf.keras
layer = keras.layers.Dense(1)
x = tf.ones([1, 2])
out = layer(x)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(out)
tape.gradient(loss, layer.trainable_variables)

# %% from keras import ops
import tensorflow as tf
from keras import Variable, ops

w = Variable(2.0, name="w")
with tf.GradientTape() as tape:
    loss = ops.exp(w)
tape.gradient(loss, w.value)

# %% from keras import ops, before the tape
import tensorflow as tf
from keras import ops

w = tf.Variable(2.0, name="w")
scale = ops.exp(w)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = scale * 2.0
tape.gradient(loss, w)

# %% tf.compat.v1 and tf.compat.v2 spellings
import tensorflow.compat.v2 as tf

w = tf.Variable(2.0, name="w")
with tf.GradientTape() as tape:
    loss = tf.math.square(w)
tape.gradient(loss, w)

# %% tf.compat.v2 before the tape
import tensorflow.compat.v2 as tf

w = tf.Variable(2.0, name="w")
loss = tf.math.square(w)  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% try/except import
try:
    import tensorflow as tf
except ImportError:
    tf = None

w = tf.Variable(2.0, name="w")
loss = w * w  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% submodules and rebinding of modules
import tensorflow as tf
from tensorflow import math, nn
from tensorflow.math import reduce_sum as total

w = tf.Variable(2.0, name="w")
ops_of_mine = tf.math
with tf.GradientTape() as tape:
    loss = total(nn.relu(math.exp(ops_of_mine.square(w))))
tape.gradient(loss, w)

# %% a name of TensorFlow that the file uses for something else
import tensorflow as tf

w = tf.Variable(2.0, name="w")


def square(value):
    return value * value


with tf.GradientTape() as tape:
    loss = square(w)
tape.gradient(loss, w)

# %% import in a function
def step():
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    loss = w * w  # cut: outside-tape
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(loss, w)


step()

# %% the tape class under another name
import tensorflow as tf

Tape = tf.GradientTape
w = tf.Variable(2.0, name="w")
with Tape() as tape:
    loss = w * w
tape.gradient(loss, w)

# %% a method taken from its object
import tensorflow as tf

w = tf.Variable(2.0, name="w")
with tf.GradientTape() as tape:
    loss = w * w
ask = tape.gradient
ask(loss, w)
