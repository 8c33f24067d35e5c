"""Functions. One program per cell, marked as `flow_programs.py` says."""

import contextlib
import dataclasses
import functools

import tensorflow as tf

w = tf.Variable(2.0, name="w")
x = tf.constant(3.0)

# %% function: called under the tape
def forward(value):
    return w * value


with tf.GradientTape() as tape:
    loss = forward(x)
tape.gradient(loss, w)

# %% function: called before the tape
def forward(value):
    return w * value


loss = forward(x)  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% function with defaults, keywords, stars
def forward(value, *more, scale=1.0, **options):
    return w * value * scale + sum(more) + options["shift"]


with tf.GradientTape() as tape:
    loss = forward(x, x, x, scale=2.0, shift=1.0)
tape.gradient(loss, w)

# %% function that is given what was computed before the tape
def penalised(loss, penalty, *, rate=0.1):
    return loss + rate * penalty


early = tf.reduce_sum(w * w)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = penalised(x, penalty=early)
tape.gradient(loss, w)

# %% the tape and the gradient in different functions
def run(variable, value):
    with tf.GradientTape() as tape:
        loss = variable * value
    return tape, loss


def ask(tape, loss, variable):
    return tape.gradient(loss, variable)


ask(*run(w, x), w)

# %% a helper computes the loss after the tape
def finish(hidden):
    return hidden * hidden


with tf.GradientTape() as tape:
    hidden = w * x
tape.gradient(finish(hidden), w)  # cut: outside-tape

# %% closure: reads under the tape what it closed over
def make(variable):
    def forward(value):
        return variable * value

    return forward


forward = make(w)
with tf.GradientTape() as tape:
    loss = forward(x)
tape.gradient(loss, w)

# %% closure: closed over what was computed once
def make(variable):
    scale = tf.exp(variable)  # cut: outside-tape

    def forward(value):
        return scale * value

    return forward


forward = make(w)
with tf.GradientTape() as tape:
    loss = forward(x)
tape.gradient(loss, w)

# %% nonlocal: a cell that is written under the tape
def step():
    total = 0.0

    def add(value):
        nonlocal total
        total = total + w * value

    with tf.GradientTape() as tape:
        add(x)
        add(x)
    return tape.gradient(total, w)


step()

# %% global: written before the tape
total = None


def compute():
    global total
    total = w * x


def step():
    compute()  # cut: outside-tape
    with tf.GradientTape() as tape:
        loss = total + 1.0
    return tape.gradient(loss, w)


step()

# %% lambda under the tape
forward = lambda value: w * value
with tf.GradientTape() as tape:
    loss = forward(x)
tape.gradient(loss, w)

# %% lambda before the tape
forward = lambda value: w * value
loss = forward(x)  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% functools.partial under the tape
def scaled(variable, value, power):
    return (variable * value) ** power


with tf.GradientTape() as tape:
    loss = functools.partial(scaled, w, power=2.0)(x)
tape.gradient(loss, w)

# %% functools.partial over what was computed before the tape
def scaled(scale, value):
    return scale * value


bound = functools.partial(scaled, tf.exp(w))  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = bound(x)
tape.gradient(loss, w)

# %% a decorator that passes the call on
def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@logged
def forward(value):
    return w * value


with tf.GradientTape() as tape:
    loss = forward(x)
tape.gradient(loss, w)

# %% a decorator that opens the tape around what is given to it
def with_gradient(function):
    def wrapper(value):
        loss = function(value)  # cut: outside-tape
        with tf.GradientTape() as tape:
            total = loss + 1.0
        return tape.gradient(total, w)

    return wrapper


@with_gradient
def forward(value):
    return w * value


forward(x)

# %% contextmanager that opens the tape
@contextlib.contextmanager
def recording():
    with tf.GradientTape() as tape:
        yield tape


with recording() as tape:
    loss = w * x
tape.gradient(loss, w)

# %% contextmanager that opens the tape, the loss after it
@contextlib.contextmanager
def recording():
    with tf.GradientTape() as tape:
        yield tape


with recording() as tape:
    hidden = w * x
loss = hidden * hidden  # cut: outside-tape
tape.gradient(loss, w)

# %% callable as an argument: called under the tape
def gradient_of(function, variable):
    with tf.GradientTape() as tape:
        loss = function()
    return tape.gradient(loss, variable)


gradient_of(lambda: w * x, w)

# %% callable as an argument: called before the tape
def gradient_of(function, variable):
    loss = function()  # cut: outside-tape
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(loss, variable)


gradient_of(lambda: w * x, w)

# %% a function in a dict of functions
losses = {"square": lambda value: (w * value) ** 2, "line": lambda value: w * value}
with tf.GradientTape() as tape:
    loss = losses["square"](x)
tape.gradient(loss, w)

# %% recursion with an end that is known
def power(value, n):
    return value if n == 0 else value * power(value, n - 1)


with tf.GradientTape() as tape:
    loss = power(w, 2)
tape.gradient(loss, w)

# %% reduce over functions: the second one cuts
def through(value, steps):
    return functools.reduce(lambda each, step: step(each), steps, value)  # cut: non-differentiable


with tf.GradientTape() as tape:
    loss = through(w, [tf.sin, tf.round, lambda v: v * x])
tape.gradient(loss, w)

# %% reduce over functions
def through(value, steps):
    return functools.reduce(lambda each, step: step(each), steps, value)


with tf.GradientTape() as tape:
    loss = through(w, [tf.sin, tf.cos, lambda v: v * x])
tape.gradient(loss, w)

# %% a function that is given is used, where one may be
def loss_of(value, after=None):
    value = after(value) if after else value  # cut: non-differentiable
    return value * x


with tf.GradientTape() as tape:
    loss = loss_of(w, tf.round)
tape.gradient(loss, w)

# %% a function that is not given
def loss_of(value, after=None):
    if after:
        value = after(value)
    return value * x


with tf.GradientTape() as tape:
    loss = loss_of(w)
tape.gradient(loss, w)
