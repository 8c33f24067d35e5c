"""Objects. One program per cell, marked as `flow_programs.py` says."""

import contextlib
import dataclasses
import enum
import functools

import tensorflow as tf

w = tf.Variable(2.0, name="w")
x = tf.constant(3.0)

# %% callable as an attribute
class Trainer:
    def __init__(self, loss_fn):
        self.loss_fn = loss_fn

    def step(self):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(x)
        return tape.gradient(loss, w)


Trainer(lambda value: w * value).step()

# %% callable as an attribute, called too early
class Trainer:
    def __init__(self, loss_fn):
        self.loss_fn = loss_fn

    def step(self):
        loss = self.loss_fn(x)  # cut: outside-tape
        with tf.GradientTape() as tape:
            pass
        return tape.gradient(loss, w)


Trainer(lambda value: w * value).step()

# %% methods call each other
class Net:
    def __init__(self):
        self.kernel = tf.Variable(2.0, name="w")

    def forward(self, value):
        return self.kernel * value

    def loss(self, value):
        return self.forward(value) ** 2

    def step(self, value):
        with tf.GradientTape() as tape:
            loss = self.loss(value)
        return tape.gradient(loss, self.kernel)


Net().step(x)

# %% self attribute: derived in __init__, used under the tape
class Net:
    def __init__(self):
        self.log_scale = tf.Variable(2.0, name="w")
        self.scale = tf.exp(self.log_scale)  # cut: outside-tape

    def loss(self, value):
        return self.scale * value


net = Net()
with tf.GradientTape() as tape:
    loss = net.loss(x)
tape.gradient(loss, net.log_scale)

# %% self attribute across methods: written by one before the tape, read by another
class Net:
    def __init__(self):
        self.kernel = tf.Variable(2.0, name="w")

    def forward(self, value):
        self.output = self.kernel * value  # cut: outside-tape

    def step(self, value):
        self.forward(value)
        with tf.GradientTape() as tape:
            loss = self.output**2
        return tape.gradient(loss, self.kernel)


Net().step(x)

# %% inheritance: the base opens the tape, the subclass computes
class Base:
    def __init__(self):
        self.kernel = tf.Variable(2.0, name="w")

    def step(self, value):
        with tf.GradientTape() as tape:
            loss = self.loss(value)
        return tape.gradient(loss, self.kernel)


class Net(Base):
    def loss(self, value):
        return self.kernel * value


Net().step(x)

# %% inheritance: super().__init__ derives too early
class Base:
    def __init__(self):
        self.kernel = tf.Variable(2.0, name="w")
        self.scale = tf.exp(self.kernel)  # cut: outside-tape


class Net(Base):
    def __init__(self):
        super().__init__()

    def step(self, value):
        with tf.GradientTape() as tape:
            loss = self.scale * value
        return tape.gradient(loss, self.kernel)


Net().step(x)

# %% property: computed anew at each read
class Net:
    def __init__(self):
        self.log_scale = tf.Variable(2.0, name="w")

    @property
    def scale(self):
        return tf.exp(self.log_scale)


net = Net()
with tf.GradientTape() as tape:
    loss = net.scale * x
tape.gradient(loss, net.log_scale)

# %% property: read before the tape
class Net:
    def __init__(self):
        self.log_scale = tf.Variable(2.0, name="w")

    @property
    def scale(self):
        return tf.exp(self.log_scale)


net = Net()
scale = net.scale  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = scale * x
tape.gradient(loss, net.log_scale)

# %% cached_property: right in the first step, stale in the second
class Net:
    def __init__(self):
        self.log_scale = tf.Variable(2.0, name="w")

    @functools.cached_property
    def scale(self):
        return tf.exp(self.log_scale)  # cut: outside-tape


net = Net()
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = net.scale * x
    tape.gradient(loss, net.log_scale)

# %% dataclass holds the variables
@dataclasses.dataclass
class Parameters:
    kernel: tf.Variable
    bias: tf.Variable


p = Parameters(w, tf.Variable(1.0, name="bias"))
with tf.GradientTape() as tape:
    loss = p.kernel * x + p.bias
tape.gradient(loss, [p.kernel, p.bias])

# %% dataclass holds what was computed before the tape
@dataclasses.dataclass
class Batch:
    prediction: tf.Tensor


batch = Batch(w * x)  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = batch.prediction**2
tape.gradient(loss, w)

# %% containers of variables: a dict, a list that grows, zip, sorted, update by key
weights = {"a": tf.Variable(1.0, name="a"), "b": tf.Variable(2.0, name="b")}
more = []
more.append(w)
with tf.GradientTape() as tape:
    loss = weights["a"] * weights["b"] + more[0]
tape.gradient(loss, [*weights.values(), *more])

# %% containers of variables: one of them is not in the loss
weights = {"a": tf.Variable(1.0, name="a"), "w": tf.Variable(2.0, name="w")}
with tf.GradientTape() as tape:
    loss = weights["a"] * x
tape.gradient(loss, list(weights.values()))  # cut: not-in-target

# %% static and class methods
class Net:
    @staticmethod
    def forward(variable, value):
        return variable * value

    @classmethod
    def loss(cls, variable, value):
        return cls.forward(variable, value) ** 2


with tf.GradientTape() as tape:
    loss = Net.loss(w, x)
tape.gradient(loss, w)

# %% a static method before the tape
class Net:
    @staticmethod
    def forward(variable, value):
        return variable * value


loss = Net.forward(w, x)  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% __call__ of an object
class Net:
    def __call__(self, value):
        return w * value


net = Net()
with tf.GradientTape() as tape:
    loss = net(x)
tape.gradient(loss, w)

# %% __call__ of an object before the tape
class Net:
    def __call__(self, value):
        return w * value


net = Net()
loss = net(x)  # cut: outside-tape
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% a member of an enumeration that is a partial, called
class Loss(enum.Enum):
    HARD = functools.partial(lambda value: tf.round(value) * x)  # cut: non-differentiable
    SOFT = functools.partial(lambda value: value * x)

    def __call__(self, value):
        return self.value(value)


with tf.GradientTape() as tape:
    loss = Loss.HARD(w)
tape.gradient(loss, w)

# %% a function in an enumeration is a method of its members
class Loss(enum.Enum):
    HARD = "hard"
    SOFT = "soft"

    def compute(self, value):
        if self is Loss.HARD:
            return tf.round(value) * x
        return value * x


with tf.GradientTape() as tape:
    loss = Loss("soft").compute(w)
tape.gradient(loss, w)

# %% an object with a length of its own may be false
class Steps:
    def __init__(self, steps):
        self.steps = steps

    def __len__(self):
        return len(self.steps)


steps = Steps([])
with tf.GradientTape() as tape:
    loss = tf.round(w) * x if steps else w * x
tape.gradient(loss, w)  # undecided: flows

# %% a registry that is a dict, filled by decorators
class Registry(dict):
    def __call__(self, name=None):
        def add(function):
            self[name or function.__name__.lower()] = function
            return function

        return add

    def make(self, spec):
        spec = dict(spec)
        return self[spec.pop("name")](**spec)


losses = Registry()


@losses("rounded")
def rounded(rate):
    return lambda v: rate * tf.round(v)  # cut: non-differentiable


@losses()
def Smooth(rate):
    return lambda v: rate * tf.exp(v)


with tf.GradientTape() as tape:
    loss = losses.make({"name": "rounded", "rate": 2.0})(w)
tape.gradient(loss, w)
with tf.GradientTape() as tape:
    loss = losses.make({"name": "smooth", "rate": 2.0})(w)
tape.gradient(loss, w)

# %% a configuration that is a dict, read by attributes
class Config(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


config = Config(activation=tf.floor)
config.scale = w
with tf.GradientTape() as tape:
    loss = config.activation(config["scale"])  # cut: non-differentiable
tape.gradient(loss, w)

# %% a dict whose class writes through super
class Checked(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __missing__(self, key):
        raise KeyError(key)


terms = Checked()
terms["A"] = w * x  # cut: outside-tape
with tf.GradientTape() as tape:
    terms["B"] = w * x
    loss = terms["b"]
tape.gradient(loss, w)
with tf.GradientTape() as tape:
    loss = terms["a"]
tape.gradient(loss, w)

# %% a list that is a class
class Terms(list):
    def total(self):
        return tf.add_n(self)


with tf.GradientTape() as tape:
    terms = Terms()
    terms.append(w * x)
    loss = terms.total() + terms[0]
tape.gradient(loss, w)

# %% popped from a dict and from a list: what is left is known
table = {"first": tf.round, "second": tf.exp}
order = ["second", "first"]
with tf.GradientTape() as tape:
    loss = table.pop(order.pop())(w)  # cut: non-differentiable
tape.gradient(loss, w)
with tf.GradientTape() as tape:
    loss = table.pop(order.pop(0))(w)
tape.gradient(loss, w)
with tf.GradientTape() as tape:
    loss = table.pop("third", tf.cos)(w)
tape.gradient(loss, w)

# %% a dataclass whose decorator has options
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Options:
    kind: ClassVar[str] = "options"
    scale: float = 2.0
    made: list = field(init=False, default_factory=list)
    loss: object = tf.round
    _: KW_ONLY
    activation: object = tf.floor


given = Options(1.0, tf.square)
with tf.GradientTape() as tape:
    loss = given.loss(w * given.scale)
tape.gradient(loss, w)
with tf.GradientTape() as tape:
    loss = given.activation(w * given.scale)  # cut: non-differentiable
tape.gradient(loss, w)

# %% a tf.Module looks into lists and dicts, not into other objects
class Plain:
    def __init__(self):
        self.v = tf.Variable(3.0)


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(2.0)
        self.plain = Plain()


net = Net()
with tf.GradientTape() as tape:
    loss = net.scale * net.plain.v
tape.gradient(loss, net.trainable_variables)
