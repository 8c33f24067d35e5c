"""Code that nobody in the file calls, with parameters that could be anything: four conclusions stay certain.

TensorFlow cannot run these programs as they stand. Each says what holds whatever is passed in.
"""

from __future__ import annotations

import pytest

from flow_programs import flow
from support import Run

PREAMBLE = "from collections.abc import Callable\n\nimport keras\nimport tensorflow as tf\n\n"

#: What is asked gets None, whatever the parameters are.
STARVED = {
    "the target is made before the tape": """
def step(model, x):
    loss = tf.reduce_mean(model(x))
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(loss, model.trainable_variables)
""",
    "the target is made from a recorded value after the tape": """
def step(model, x):
    with tf.GradientTape() as tape:
        out = model(x)
    loss = tf.reduce_mean(out)
    return tape.gradient(loss, model.trainable_variables)
""",
    "the forward pass runs before the tape in a method": """
class Trainer:
    def step(self, x, y):
        out = self.model(x, training=True)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((out - y) ** 2)
        return tape.gradient(loss, self.model.trainable_variables)
""",
    "a fresh variable that the unknown callee never got hold of": """
def step(model, x):
    extra = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        loss = model(x)
    return tape.gradient(loss, extra)
""",
    "every way into the target is cut": """
def step(model, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.cast(model(x) > 0.5, tf.float32))
    return tape.gradient(loss, model.trainable_variables)
""",
    "an annotated tensor that nobody watches": """
def step(model: keras.Model, x: tf.Tensor):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    return tape.gradient(loss, x)
""",
}

#: What is asked may flow: a claim would be false for some caller.
OPEN = {
    "an unknown model called under the tape": """
def step(model, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    return tape.gradient(loss, model.trainable_variables)
""",
    "sources given from outside": """
def step(loss_fn, variables):
    with tf.GradientTape() as tape:
        loss = loss_fn()
    return tape.gradient(loss, variables)
""",
    "a loss that the model hands out": """
def step(model, x):
    with tf.GradientTape() as tape:
        out = model(x)
        loss = out.loss + sum(model.losses)
    return tape.gradient(loss, model.trainable_weights)
""",
    "a tape given from outside": """
def ask(tape: tf.GradientTape, loss, variables):
    return tape.gradient(loss, variables)
""",
    "what is computed before the tape may be no part of the model": """
def step(encoder, model, x):
    code = encoder(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(code))
    return tape.gradient(loss, model.trainable_variables)
""",
    "a variable that an unknown function was given": """
def step(register, model, x):
    extra = tf.Variable(1.0)
    register(extra)
    with tf.GradientTape() as tape:
        loss = model(x)
    return tape.gradient(loss, extra)
""",
    "a method left to subclasses": """
class Trainer:
    def loss(self, x):
        raise NotImplementedError

    def step(self, x):
        with tf.GradientTape() as tape:
            loss = self.loss(x)
        return tape.gradient(loss, self.weights)
""",
    "an attribute that other code sets": """
class Trainer:
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(self.state, x)
        return tape.gradient(loss, self.variables)
""",
    "a base class from elsewhere": """
from elsewhere import Base


class Trainer(Base):
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = self.compute(x)
        return tape.gradient(loss, self.kernel)
""",
    "a context manager that cannot be seen": """
def step(recorder: Callable[[], tf.GradientTape], model, x):
    with recorder() as tape:
        loss = model(x)
    return tape.gradient(loss, model.trainable_variables)
""",
    "a decorator that cannot be seen": """
from elsewhere import wrapped


@wrapped
def forward(model, x):
    return model(x)


def step(model, x):
    with tf.GradientTape() as tape:
        loss = forward(model, x)
    return tape.gradient(loss, model.trainable_variables)
""",
    "sources picked by a function from elsewhere": """
from elsewhere import distinct


def step(model, x):
    chosen = distinct(model.trainable_variables)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    return tape.gradient(loss, chosen)
""",
    "a variable made by a function from elsewhere": """
from elsewhere import shared_scalar

scalar = shared_scalar(2.0, name="scalar")
with tf.GradientTape() as tape:
    loss = scalar * 3.0
tape.gradient(loss, scalar)
""",
    "variables watched by an attribute, of an object that is made elsewhere": """
from elsewhere import make_posterior


def step(prior, x):
    posterior = make_posterior(prior)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(posterior.trainable_variables)
        loss = posterior.log_prob(x)
    return tape.gradient(loss, posterior.trainable_variables)
""",
    "a callable from another module, which may import the variable": """
v = tf.Variable(1.0)


class Trainer:
    def __init__(self, loss_fn):
        self.loss_fn = loss_fn

    def step(self, x):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(x)
        return tape.gradient(loss, v)
""",
    "a callback that watches": """
def step(function, x):
    with tf.GradientTape() as tape:
        loss = function(tape, x)
    return tape.gradient(loss, x)
""",
}


@pytest.mark.parametrize("program", STARVED.values(), ids=STARVED.keys())
def test_what_holds_for_every_caller_is_said(program: str, run: Run) -> None:
    assert [each.verdict for each in flow(run, PREAMBLE + program)] == ["none"]


@pytest.mark.parametrize("program", OPEN.values(), ids=OPEN.keys())
def test_what_depends_on_the_caller_is_left_open(program: str, run: Run) -> None:
    said = flow(run, PREAMBLE + program)

    assert said
    assert {each.verdict for each in said} <= {"flows", "unknown"}
