"""Tapes. One program per cell, marked as `flow_programs.py` says."""

import tensorflow as tf

w = tf.Variable(2.0, name="w")
v = tf.Variable(3.0, name="v")
x = tf.constant(3.0)

# %% two tapes in one with, each asked for its own loss
with tf.GradientTape() as first, tf.GradientTape() as second:
    loss_1 = w * x
    loss_2 = v * x
first.gradient(loss_1, w)
second.gradient(loss_2, v)

# %% two tapes in one with, asked for the other network's variable
with tf.GradientTape() as first, tf.GradientTape() as second:
    loss_1 = w * x
    loss_2 = v * x
first.gradient(loss_1, v)  # cut: not-in-target
second.gradient(loss_2, w)  # cut: not-in-target

# %% nested tapes: both record
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        loss = w * w
    inner.gradient(loss, w)
outer.gradient(loss, w)

# %% the tape of another block is asked
with tf.GradientTape() as first:
    loss = w * w
with tf.GradientTape() as second:
    other = w * x
second.gradient(loss, w)  # cut: wrong-tape

# %% persistent, asked twice
with tf.GradientTape(persistent=True) as tape:
    loss = w * w
    total = loss * x
tape.gradient(loss, w)
tape.gradient(total, w)

# %% persistent, a target computed after it closed
with tf.GradientTape(persistent=True) as tape:
    loss = w * w
total = loss * x  # cut: outside-tape
tape.gradient(total, w)

# %% the target is reduced after the tape closed
vector = tf.Variable([1.0, 2.0], name="w")
with tf.GradientTape() as tape:
    losses = vector * x
loss = tf.reduce_mean(losses)  # cut: outside-tape
tape.gradient(loss, vector)

# %% the target is reduced under the tape
vector = tf.Variable([1.0, 2.0], name="w")
with tf.GradientTape() as tape:
    losses = vector * x
    loss = tf.reduce_mean(losses)
tape.gradient(loss, vector)

# %% a watched tensor is a source
c = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(c)
    loss = c * c
tape.gradient(loss, c)

# %% a tensor that is not watched is a source
c = tf.constant(2.0)
with tf.GradientTape() as tape:
    loss = c * c
tape.gradient(loss, c)  # cut: not-watched

# %% a tensor watched after its use
c = tf.constant(2.0)
with tf.GradientTape() as tape:
    loss = c * c
    tape.watch(c)  # cut: not-watched
tape.gradient(loss, c)

# %% a late watch of a tensor that is already on the tape
with tf.GradientTape() as tape:
    hidden = w * x
    loss = hidden * hidden
    tape.watch(hidden)
tape.gradient(loss, hidden)

# %% a list of tensors is watched
a, b = tf.constant(1.0), tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch([a, b])
    loss = a * b
tape.gradient(loss, [a, b])

# %% stop_recording around a metric
with tf.GradientTape() as tape:
    loss = w * x
    with tape.stop_recording():
        shown = loss * 2.0
tape.gradient(loss, w)

# %% stop_recording around a needed part
with tf.GradientTape() as tape:
    with tape.stop_recording():
        hidden = w * x  # cut: outside-tape
    loss = hidden * hidden
tape.gradient(loss, w)

# %% reset before the forward pass
with tf.GradientTape() as tape:
    warm = w * x
    tape.reset()
    loss = w * w
tape.gradient(loss, w)

# %% reset after the forward pass
with tf.GradientTape() as tape:
    loss = w * w  # cut: outside-tape
    tape.reset()
tape.gradient(loss, w)

# %% watch_accessed_variables=False with a watch
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(w)
    loss = w * v
tape.gradient(loss, w)

# %% watch_accessed_variables=False without one
with tf.GradientTape(watch_accessed_variables=False) as tape:
    loss = w * v
tape.gradient(loss, w)  # cut: not-watched

# %% watch_accessed_variables=False: the variables of a module watched by attribute, in a loop, from a method
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(2.0, name="w")

    def parameters(self):
        return [self.kernel]


net = Net()
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(net.trainable_variables)
    loss = net.kernel * x
tape.gradient(loss, net.trainable_variables)  # undecided: flows
with tf.GradientTape(watch_accessed_variables=False) as tape:
    for each in net.trainable_variables:
        tape.watch(each)
    loss = net.kernel * x
tape.gradient(loss, net.kernel)  # undecided: flows
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(net.parameters())
    loss = net.kernel * x
tape.gradient(loss, net.parameters())

# %% watch_accessed_variables=False: the other module is watched
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(2.0, name="w")


a, b = Net(), Net()
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(a.trainable_variables)
    loss = a.kernel * b.kernel
tape.gradient(loss, b.trainable_variables)  # cut: not-watched

# %% a frozen variable is not watched
frozen = tf.Variable(1.0, trainable=False, name="w")  # cut: not-watched
with tf.GradientTape() as tape:
    loss = frozen * v
tape.gradient(loss, frozen)

# %% a frozen variable that is watched
frozen = tf.Variable(1.0, trainable=False, name="w")
with tf.GradientTape() as tape:
    tape.watch(frozen)
    loss = frozen * v
tape.gradient(loss, frozen)

# %% a tape made first and opened later
tape = tf.GradientTape()
with tape:
    loss = w * x
tape.gradient(loss, w)

# %% a tape made before the forward pass and opened after it
tape = tf.GradientTape()
loss = w * x  # cut: outside-tape
with tape:
    pass
tape.gradient(loss, w)

# %% a persistent tape opened a second time keeps its record
tape = tf.GradientTape(persistent=True)
with tape:
    hidden = w * x
with tape:
    loss = hidden * hidden
tape.gradient(loss, w)

# %% asked while the tape is open
with tf.GradientTape() as tape:
    loss = w * x
    tape.gradient(loss, w)

# %% a slice taken under the tape is a source
vector = tf.Variable([1.0, 2.0], name="w")
with tf.GradientTape() as tape:
    head = vector[:1]
    loss = tf.reduce_sum(head)
tape.gradient(loss, head)

# %% a slice written in the gradient call
vector = tf.Variable([1.0, 2.0], name="w")
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(vector[:1])
tape.gradient(loss, vector[:1])  # cut: not-in-target

# %% the forward pass is in the gradient call itself
with tf.GradientTape() as tape:
    pass
tape.gradient(w * x, w)  # cut: outside-tape

# %% sources in a dict, in nested lists
with tf.GradientTape(persistent=True) as tape:
    loss = w * v
tape.gradient(loss, {"w": w, "v": v})
tape.gradient(loss, [[w], [v]])

# %% the target is a list of losses
with tf.GradientTape() as tape:
    losses = [w * x, v * x]
tape.gradient(losses, [w, v])

# %% a list of losses collected before the tape
losses = [w * x, w * w]  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(losses, w)

# %% the target is the source
with tf.GradientTape() as tape:
    loss = w
tape.gradient(loss, w)

# %% losses summed across tapes
with tf.GradientTape() as first:
    loss_1 = w * x
with tf.GradientTape() as second:
    loss_2 = v * x
    total = loss_1 + loss_2
second.gradient(total, v)
first.gradient(total, w)  # cut: wrong-tape

# %% output_gradients weigh the target
with tf.GradientTape() as tape:
    loss = w * x
tape.gradient(loss, w, output_gradients=tf.constant(0.5))
