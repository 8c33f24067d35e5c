"""The same regression, written right: forward pass, slice and penalty all run under the tape."""

import tensorflow as tf

features = tf.random.normal([64, 3])
labels = tf.reduce_sum(features, axis=1, keepdims=True)
kernel = tf.Variable(tf.random.normal([3, 1]), name="kernel")
optimizer = tf.keras.optimizers.SGD(0.1)

for step in range(100):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean((tf.matmul(features, kernel) - labels) ** 2)
        loss = error + 0.01 * tf.reduce_sum(kernel[1:] ** 2)
    gradients = tape.gradient(loss, [kernel])
    optimizer.apply_gradients(zip(gradients, [kernel]))
