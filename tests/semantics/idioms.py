"""Idioms of training code. One program per cell, marked as `flow_programs.py` says."""

import collections
import contextlib
import functools
import itertools

import keras
import tensorflow as tf

w = tf.Variable(2.0, name="w")
x = tf.constant([1.0, 2.0, 3.0])

# %% PPO: the old log-probability is a constant, the new one under the tape
old = tf.stop_gradient(tf.math.log_sigmoid(w * x))
with tf.GradientTape() as tape:
    new = tf.math.log_sigmoid(w * x)
    ratio = tf.exp(new - old)
    loss = -tf.reduce_mean(tf.minimum(ratio, tf.clip_by_value(ratio, 0.8, 1.2)))
tape.gradient(loss, w)

# %% PPO: both log-probabilities before the tape
old = tf.math.log_sigmoid(w * x)
new = tf.math.log_sigmoid(w * x)
ratio = tf.exp(new - old)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = -tf.reduce_mean(ratio)
tape.gradient(loss, w)

# %% DQN: the target network before the tape, the online network under it
target_w = tf.Variable(1.0, name="target")
goal = 1.0 + 0.9 * tf.reduce_max(target_w * x)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((w * x - goal) ** 2)
tape.gradient(loss, w)

# %% DQN: the gradient of the target network is asked for
target_w = tf.Variable(1.0, name="w")
online = tf.Variable(1.0, name="online")
goal = 1.0 + 0.9 * tf.reduce_max(target_w * x)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((online * x - goal) ** 2)
tape.gradient(loss, [online, target_w])

# %% REINFORCE: log-probabilities collected under the tape of the episode
with tf.GradientTape() as tape:
    log_probs, rewards = [], []
    for step in range(3):
        log_probs.append(tf.math.log_sigmoid(w * x[step]))
        rewards.append(1.0)
    loss = -tf.reduce_sum(tf.stack(log_probs) * tf.constant(rewards))
tape.gradient(loss, w)

# %% REINFORCE: log-probabilities collected before the tape
log_probs, rewards = [], []
for step in range(3):
    log_probs.append(tf.math.log_sigmoid(w * x[step]))  # cut: outside-tape
    rewards.append(1.0)
with tf.GradientTape() as tape:
    loss = -tf.reduce_sum(tf.stack(log_probs) * tf.constant(rewards))
tape.gradient(loss, w)

# %% gradients accumulated over batches
total = [tf.zeros_like(w)]
for value in [1.0, 2.0, 3.0, 4.0, 5.0]:
    with tf.GradientTape() as tape:
        loss = w * value
    total = [a + g for a, g in zip(total, tape.gradient(loss, [w]))]

# %% losses accumulated over batches, the tape closed between them
total = 0.0
for value in [1.0, 2.0]:
    with tf.GradientTape() as tape:
        total = total + w * value
tape.gradient(total, w)

# %% a moving average updated after the step
average = tf.Variable(0.0, trainable=False)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * x)
    tape.gradient(loss, w)
    average.assign(0.9 * average + 0.1 * w)

# %% saliency: the input is watched
image = tf.random.normal([1, 4])
net = keras.Sequential([keras.layers.Dense(3)])
with tf.GradientTape() as tape:
    tape.watch(image)
    score = tf.reduce_max(net(image))
tape.gradient(score, image)

# %% saliency: the watch is forgotten
image = tf.random.normal([1, 4])
net = keras.Sequential([keras.layers.Dense(3)])
with tf.GradientTape() as tape:
    score = tf.reduce_max(net(image))
tape.gradient(score, image)  # cut: not-watched

# %% integrated gradients: the scaled inputs are made and watched in a loop
image = tf.random.normal([4])
for alpha in [0.1, 0.5, 1.0]:
    scaled = alpha * image
    with tf.GradientTape() as tape:
        tape.watch(scaled)
        score = tf.reduce_sum(w * scaled)
    tape.gradient(score, scaled)

# %% integrated gradients: the base image is asked for in place of the scaled one
image = tf.random.normal([4])
scaled = 0.5 * image
with tf.GradientTape() as tape:
    tape.watch(scaled)
    score = tf.reduce_sum(w * scaled)
tape.gradient(score, image)  # cut: not-watched

# %% GAN: two tapes, two losses
generator = keras.Sequential([keras.layers.Dense(2)])
critic = keras.Sequential([keras.layers.Dense(1)])
noise, real = tf.random.normal([4, 3]), tf.random.normal([4, 2])
with tf.GradientTape() as g_tape, tf.GradientTape() as c_tape:
    fake = generator(noise)
    g_loss = -tf.reduce_mean(critic(fake))
    c_loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
g_tape.gradient(g_loss, generator.trainable_variables)
c_tape.gradient(c_loss, critic.trainable_variables)

# %% GAN: the fake batch is made before the tape
generator = keras.Sequential([keras.layers.Dense(2)])
critic = keras.Sequential([keras.layers.Dense(1)])
fake = generator(tf.random.normal([4, 3]))  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = -tf.reduce_mean(critic(fake))
tape.gradient(loss, generator.trainable_variables)

# %% VAE: reparameterised under the tape
mean, log_var = tf.Variable(0.5, name="mean"), tf.Variable(0.1, name="log_var")
with tf.GradientTape() as tape:
    z = mean + tf.exp(0.5 * log_var) * tf.random.normal([8])
    loss = tf.reduce_mean(z**2)
tape.gradient(loss, [mean, log_var])

# %% VAE: the deviation computed once
mean, log_var = tf.Variable(0.5, name="mean"), tf.Variable(0.1, name="w")
deviation = tf.exp(0.5 * log_var)  # cut: outside-tape
for _ in range(2):
    with tf.GradientTape() as tape:
        z = mean + deviation * tf.random.normal([8])
        loss = tf.reduce_mean(z**2)
    tape.gradient(loss, [mean, log_var])

# %% keyword arguments of the gradient call
with tf.GradientTape() as tape:
    loss = w * x[0]
tape.gradient(target=loss, sources=[w])

# %% named tuple of losses
Losses = collections.namedtuple("Losses", "main extra")
with tf.GradientTape() as tape:
    losses = Losses(main=w * x[0], extra=w * x[1])
    loss = losses.main + losses.extra
tape.gradient(loss, w)

# %% named tuple filled before the tape
Losses = collections.namedtuple("Losses", "main extra")
losses = Losses(main=w * x[0], extra=w * x[1])  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = losses.main * 2.0
tape.gradient(loss, w)

# %% ExitStack enters the tape
with contextlib.ExitStack() as stack:
    tape = stack.enter_context(tf.GradientTape())
    loss = w * x[0]
tape.gradient(loss, w)  # undecided: flows

# %% __enter__ and __exit__ by hand
tape = tf.GradientTape()
tape.__enter__()
loss = w * x[0]
tape.__exit__(None, None, None)
tape.gradient(loss, w)

# %% map, reduce, zip, enumerate, chain
with tf.GradientTape() as tape:
    terms = list(map(lambda value: w * value, [1.0, 2.0]))
    loss = functools.reduce(lambda a, b: a + b, itertools.chain(terms, [w]))
    for i, (a, b) in enumerate(zip(terms, terms)):
        loss += float(i) * a * b
tape.gradient(loss, w)

# %% tf.nest.map_structure
with tf.GradientTape() as tape:
    scaled = tf.nest.map_structure(lambda value: value * w, {"a": x, "b": [x, x]})
    loss = tf.add_n([tf.reduce_sum(each) for each in tf.nest.flatten(scaled)])
tape.gradient(loss, w)

# %% variables from a generator function
def variables():
    yield w
    yield tf.Variable(1.0, name="other")


vs = list(variables())
with tf.GradientTape() as tape:
    loss = vs[0] * vs[1]
tape.gradient(loss, vs)  # undecided: flows

# %% a class attribute as a cache: stale in the second step
class Net:
    cache = {}

    def scale(self):
        if "scale" not in Net.cache:
            Net.cache["scale"] = tf.exp(w)  # cut: outside-tape
        return Net.cache["scale"]


net = Net()
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = net.scale() * x[0]
    tape.gradient(loss, w)

# %% a loss that keeps its terms on the object, cleared in each step
class Net:
    def __init__(self):
        self.terms = []

    def loss(self, value):
        self.terms = []
        self.terms.append(w * value)
        self.terms.append(w * w)
        return tf.add_n(self.terms)


net = Net()
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = net.loss(x[0])
    tape.gradient(loss, w)

# %% a weight of a slice: assigned under the tape, read afterwards
vector = tf.Variable([1.0, 2.0, 3.0], name="w")
with tf.GradientTape() as tape:
    head, tail = vector[:1], vector[1:]
    loss = tf.reduce_sum(head * 2.0) + tf.reduce_sum(tail * tail)
tape.gradient(loss, vector)

# %% clipped and applied
optimizer = keras.optimizers.Adam(0.1, clipnorm=1.0)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * x)
gradients = tape.gradient(loss, [w])
gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
optimizer.apply_gradients(zip(gradients, [w]))
