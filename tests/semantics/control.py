"""Control flow. One program per cell, marked as `flow_programs.py` says."""

import contextlib

import tensorflow as tf

w = tf.Variable(2.0, name="w")
x = tf.constant(3.0)
flag = bool(tf.random.uniform([]) < 2.0)

# %% if: both arms read the variable under the tape
with tf.GradientTape() as tape:
    if flag:
        loss = w * x
    else:
        loss = w + x
tape.gradient(loss, w)

# %% if: both arms run before the tape opens
if flag:
    loss = w * x  # cut: outside-tape
else:
    loss = w * x * 2.0
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% conditional expression under the tape
with tf.GradientTape() as tape:
    loss = w * x if flag else w
tape.gradient(loss, w)

# %% conditional expression, the scale computed before the tape
scale = 1.0 / w  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = scale * x if flag else scale
tape.gradient(loss, w)

# %% an arm that leaves: what follows runs under the tape
def step():
    with tf.GradientTape() as tape:
        if not flag:
            return None
        loss = w * x
    return tape.gradient(loss, w)


step()

# %% an arm that raises: what remains was computed too early
def step():
    early = w * x  # cut: outside-tape
    if not flag:
        raise ValueError
    with tf.GradientTape() as tape:
        loss = early * 2.0
    return tape.gradient(loss, w)


step()

# %% for over a range: the tape inside the loop
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = w * x
    tape.gradient(loss, w)

# %% for over a range: computed once above the loop
penalty = w * w  # cut: outside-tape
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = penalty + x
    tape.gradient(loss, w)

# %% for: cached in the first iteration, stale in the second
cache = None
for _ in range(3):
    with tf.GradientTape() as tape:
        if cache is None:
            cache = tf.exp(w)  # cut: outside-tape
        loss = cache * x
    tape.gradient(loss, w)

# %% for: computed anew in each iteration
cache = None
for _ in range(3):
    with tf.GradientTape() as tape:
        cache = tf.exp(w)
        loss = cache * x
    tape.gradient(loss, w)

# %% for: the source is rebound, so the second iteration asks for a tensor that is not watched
v = w
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = v * x
    gradient = tape.gradient(loss, v)  # cut: not-watched
    v = v - 0.1

# %% for: the source is updated in place
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = w * x
    gradient = tape.gradient(loss, w)
    w.assign_sub(0.1 * gradient)

# %% while with a sum under the tape
with tf.GradientTape() as tape:
    loss, i = 0.0, 0
    while i < 3:
        loss += w * x
        i += 1
tape.gradient(loss, w)

# %% while with a sum above the tape
loss, i = w * 1.0, 0
while i < 3:
    loss += w * x  # cut: outside-tape
    i += 1
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% a loop inside the tape reads a slice that was taken inside
v = tf.Variable([1.0, 2.0, 3.0], name="w")
with tf.GradientTape() as tape:
    loss = 0.0
    for i in range(3):
        loss += v[i] ** 2
tape.gradient(loss, v)

# %% a loop inside the tape reads slices that were taken outside
v = tf.Variable([1.0, 2.0, 3.0], name="w")
head = v[:2]  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = 0.0
    for i in range(2):
        loss += head[i] ** 2
tape.gradient(loss, v)

# %% break and else
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = w * x
    if flag:
        break
else:
    with tf.GradientTape() as tape:
        loss = w + x
tape.gradient(loss, w)  # undecided: flows

# %% continue before the late forward pass
for i in range(3):
    loss = w * x  # cut: outside-tape
    if i == 0:
        continue
    with tf.GradientTape() as tape:
        total = loss + 1.0
    tape.gradient(total, w)

# %% list comprehension under the tape
with tf.GradientTape() as tape:
    loss = tf.add_n([w * float(i) for i in range(3)])
tape.gradient(loss, w)

# %% list comprehension before the tape
losses = [w * float(i) for i in range(3)]  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.add_n(losses)
tape.gradient(loss, w)

# %% dict comprehension under the tape
with tf.GradientTape() as tape:
    terms = {str(i): w * float(i) for i in range(3)}
    loss = sum(terms.values())
tape.gradient(loss, w)

# %% dict comprehension before the tape
terms = {str(i): w * float(i) for i in range(3)}  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = sum(terms.values())
tape.gradient(loss, w)

# %% generator consumed under the tape
with tf.GradientTape() as tape:
    loss = sum(w * float(i) for i in range(3))
tape.gradient(loss, w)

# %% comprehension over variables as sources
vs = [tf.Variable(float(i), name="w") for i in range(1, 3)]
with tf.GradientTape() as tape:
    loss = tf.add_n([v * v for v in vs])
tape.gradient(loss, [v for v in vs])

# %% try under the tape
with tf.GradientTape() as tape:
    try:
        loss = w * x
    except ValueError:
        loss = w + x
    finally:
        print("done")
tape.gradient(loss, w)

# %% try before the tape
try:
    loss = w * x  # cut: outside-tape
except ValueError:
    loss = w * x + 1.0
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% walrus under the tape
with tf.GradientTape() as tape:
    if (loss := w * x) is not None:
        print("there")
tape.gradient(loss, w)

# %% walrus before the tape
if (scale := tf.exp(w)) is not None:  # cut: outside-tape
    print("there")
with tf.GradientTape() as tape:
    loss = scale * x
tape.gradient(loss, w)

# %% starred assignment and starred arguments under the tape
pair = [w, x, x]
with tf.GradientTape() as tape:
    first, *rest = pair
    loss = tf.add_n([first, *rest])
tape.gradient(loss, w)

# %% starred assignment of what was computed before the tape
first, *rest = [w * 2.0, x, x]  # cut: outside-tape
with tf.GradientTape() as tape:
    loss = tf.add_n([first, *rest])
tape.gradient(loss, w)

# %% match under the tape
kind = "square" if flag else "other"
with tf.GradientTape() as tape:
    match kind:
        case "square":
            loss = w * w
        case _:
            loss = w * x
tape.gradient(loss, w)

# %% match before the tape
kind = "square" if flag else "other"
match kind:
    case "square":
        loss = w * w  # cut: outside-tape
    case _:
        loss = w * x
with tf.GradientTape() as tape:
    pass
tape.gradient(loss, w)

# %% async: awaited under the tape
import asyncio


async def forward(value):
    return w * value


async def step():
    with tf.GradientTape() as tape:
        loss = await forward(x)
    return tape.gradient(loss, w)


asyncio.run(step())

# %% async: awaited before the tape
import asyncio


async def forward(value):
    return w * value


async def step():
    loss = await forward(x)  # cut: outside-tape
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(loss, w)


asyncio.run(step())

# %% what comes after an error that is awaited
with contextlib.suppress(ValueError):
    raise ValueError
with tf.GradientTape() as tape:
    loss = tf.round(w) * x  # cut: non-differentiable
tape.gradient(loss, w)

# %% a value that is written before an error that is awaited, or not
scale = 1.0
with contextlib.suppress(ValueError):
    scale = tf.round(w)
    raise ValueError
with tf.GradientTape() as tape:
    loss = scale * w
tape.gradient(loss, w)

# %% `or` and `and` give the operand that decides
def step(given=None):
    function = given and tf.floor or tf.exp
    with tf.GradientTape() as tape:
        loss = function(w)  # cut: non-differentiable
    tape.gradient(loss, w)


step()
step(given="floor")

# %% match: classes, sequences, mappings and guards
def named(what):
    match what:
        case str(name) if name.startswith("r"):
            return tf.round
        case str():
            return tf.exp
        case function if callable(function):
            return function
        case {"kind": "floor", "scale": 1.0}:
            return tf.floor
        case [one, _]:
            return one
        case None:
            return tf.sin
        case _:
            raise TypeError(what)


def step(what):
    with tf.GradientTape() as tape:
        loss = named(what)(w)  # cut: non-differentiable
    tape.gradient(loss, w)


step("exp")
step(tf.cos)
step((tf.tanh, 1))
step(None)
step("round")
step({"kind": "floor", "scale": 1.0})

# %% names that are put together from words
table = {"my_loss": tf.round, "OTHER": tf.exp}
with tf.GradientTape() as tape:
    loss = table["My".lower() + "_loss"](w) + table["{}_loss".format("my")](w)  # cut: non-differentiable
tape.gradient(loss, w)
with tf.GradientTape() as tape:
    loss = table[" other ".strip().upper()](w)
tape.gradient(loss, w)
