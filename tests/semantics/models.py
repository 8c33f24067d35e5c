"""Keras. One program per cell, marked as `flow_programs.py` says."""

import keras
import tensorflow as tf

x = tf.random.normal([4, 3])
y = tf.random.normal([4, 1])

# %% subclassed model
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(2)
        self.head = keras.layers.Dense(1)

    def call(self, inputs):
        return self.head(self.hidden(inputs))


net = Net()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((net(x) - y) ** 2)
tape.gradient(loss, net.trainable_variables)

# %% subclassed model called before the tape
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.head = keras.layers.Dense(1)

    def call(self, inputs):
        return self.head(inputs)


net = Net()
predicted = net(x)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((predicted - y) ** 2)
tape.gradient(loss, net.trainable_variables)

# %% functional model
inputs = keras.Input((3,))
net = keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Dense(2)(inputs)))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(keras.losses.mean_squared_error(y, net(x)))
tape.gradient(loss, net.trainable_variables)

# %% functional model called before the tape
inputs = keras.Input((3,))
net = keras.Model(inputs, keras.layers.Dense(1)(inputs))
predicted = net(x, training=True)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(keras.losses.mean_squared_error(y, predicted))
tape.gradient(loss, net.trainable_weights)

# %% Sequential model
net = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(1)])
mse = keras.losses.MeanSquaredError()
with tf.GradientTape() as tape:
    loss = mse(y, net(x))
tape.gradient(loss, net.trainable_variables)

# %% Sequential model called before the tape, the loss object under it
net = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(1)])
mse = keras.losses.MeanSquaredError()
predicted = net(x)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = mse(y, predicted)
tape.gradient(loss, net.trainable_variables)

# %% two models: the other one's variables
a = keras.Sequential([keras.layers.Dense(1)])
b = keras.Sequential([keras.layers.Dense(1)])
b.build((None, 3))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(a(x) ** 2)
tape.gradient(loss, b.trainable_variables)  # cut: not-in-target

# %% two models in a row: both flow
a = keras.Sequential([keras.layers.Dense(2)])
b = keras.Sequential([keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(b(a(x)) ** 2)
tape.gradient(loss, a.trainable_variables + b.trainable_variables)

# %% custom layer: build and call
class Scale(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")

    def call(self, inputs):
        return inputs * self.scale


layer = Scale()
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(x) ** 2)
tape.gradient(loss, layer.trainable_variables)

# %% custom layer: derived in build, stale from the second step on
class Scale(keras.layers.Layer):
    def build(self, shape):
        self.log_scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="log_scale")
        self.scale = tf.exp(self.log_scale)  # cut: outside-tape

    def call(self, inputs):
        return inputs * self.scale


layer = Scale()
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x) ** 2)
    tape.gradient(loss, layer.trainable_variables)

# %% custom train_step
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.head = keras.layers.Dense(1)

    def call(self, inputs):
        return self.head(inputs)

    def train_step(self, data):
        inputs, labels = data
        with tf.GradientTape() as tape:
            predicted = self(inputs, training=True)
            loss = self.compute_loss(y=labels, y_pred=predicted)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


net = Net()
net.compile("sgd", "mse")
net.fit(x, y, verbose=0)

# %% custom train_step: the forward pass before the tape
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.head = keras.layers.Dense(1)

    def call(self, inputs):
        return self.head(inputs)

    def train_step(self, data):
        inputs, labels = data
        predicted = self(inputs, training=True)  # cut: outside-tape
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((predicted - labels) ** 2)
        tape.gradient(loss, self.trainable_variables)
        return {"loss": loss}


net = Net()
net.compile("sgd", "mse")
net.fit(x, y, verbose=0)

# %% compile and fit with a custom loss
def loss_fn(labels, predicted):
    return tf.reduce_mean((labels - predicted) ** 2)


net = keras.Sequential([keras.layers.Dense(1)])
net.compile("sgd", loss_fn)
net.fit(x, y, verbose=0)

# %% a metric is updated after the tape
net = keras.Sequential([keras.layers.Dense(1)])
metric = keras.metrics.Mean()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((net(x) - y) ** 2)
tape.gradient(loss, net.trainable_variables)
metric.update_state(loss)

# %% a penalty over the weights under the tape
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
with tf.GradientTape() as tape:
    penalty = tf.add_n([tf.reduce_sum(v**2) for v in net.trainable_variables])
    loss = tf.reduce_mean((net(x) - y) ** 2) + 0.01 * penalty
tape.gradient(loss, net.trainable_variables)

# %% a penalty alone, computed before the tape
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
penalty = tf.add_n([tf.reduce_sum(v**2) for v in net.trainable_variables])  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = 0.01 * penalty
tape.gradient(loss, net.trainable_variables)

# %% keras.Variable and keras.ops
v = keras.Variable(2.0, name="w")
with tf.GradientTape() as tape:
    loss = keras.ops.square(v)
tape.gradient(loss, v.value)

# %% keras.Variable before the tape
v = keras.Variable(2.0, name="w")
squared = keras.ops.square(v)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = squared * 2.0
tape.gradient(loss, v.value)

# %% tf.Module
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.ones([3, 1]), name="w")

    def __call__(self, inputs):
        return inputs @ self.kernel


net = Net()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((net(x) - y) ** 2)
tape.gradient(loss, net.trainable_variables)

# %% tf.Module called before the tape
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.ones([3, 1]), name="w")

    def __call__(self, inputs):
        return inputs @ self.kernel


net = Net()
predicted = net(x)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((predicted - y) ** 2)
tape.gradient(loss, net.trainable_variables)

# %% a Keras layer frozen after it was built: its variables are still watched
layer = keras.layers.Dense(1)
layer.build((None, 3))
layer.trainable = False
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(x))
tape.gradient(loss, layer.kernel.value)

# %% subclass of Sequential that hands its layers on
class Net(keras.Sequential):
    def __init__(self, units):
        super().__init__([keras.Input((3,)), keras.layers.Dense(units)])


net = Net(1)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((tf.round(net(x)) - y) ** 2)  # cut: non-differentiable
tape.gradient(loss, net.trainable_variables)

# %% subclass of Sequential that adds its layers
class Net(keras.Sequential):
    def __init__(self):
        super().__init__()
        self.add(keras.Input((3,)))
        self.add(keras.layers.Dense(2, activation="tanh"))
        self.add(keras.layers.Dense(1))


net = Net()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((net(x) - y) ** 2)
tape.gradient(loss, net.trainable_variables)

# %% subclass of Sequential whose call rounds what its layers compute
class Net(keras.Sequential):
    def __init__(self):
        super().__init__([keras.Input((3,)), keras.layers.Dense(1)])

    def call(self, inputs, training=None, mask=None):
        return tf.round(super().call(inputs, training=training, mask=mask))  # cut: non-differentiable


net = Net()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((net(x) - y) ** 2)
tape.gradient(loss, net.trainable_variables)
