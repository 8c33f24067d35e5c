"""Linear regression with a loop of its own. The forward pass runs before the tape opens."""

import tensorflow as tf

features = tf.random.normal([64, 3])
labels = tf.reduce_sum(features, axis=1, keepdims=True)
weights = tf.Variable(tf.zeros([3, 1]), name="weights")
bias = tf.Variable(0.0, name="bias")
optimizer = tf.keras.optimizers.SGD(0.1)

for step in range(100):
    predictions = tf.matmul(features, weights) + bias
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((predictions - labels) ** 2)
    gradients = tape.gradient(loss, [weights, bias])
    optimizer.apply_gradients(zip(gradients, [weights, bias]))
