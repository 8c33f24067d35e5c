"""Weight decay by hand. The penalty is computed once, above the loop, and never again."""

import tensorflow as tf

features = tf.random.normal([64, 3])
labels = tf.reduce_sum(features, axis=1, keepdims=True)
kernel = tf.Variable(tf.random.normal([3, 1]), name="kernel")
optimizer = tf.keras.optimizers.SGD(0.1)

penalty = 0.01 * tf.reduce_sum(kernel**2)

for step in range(100):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean((tf.matmul(features, kernel) - labels) ** 2)
        loss = error + penalty
    gradients = tape.gradient(loss, [kernel])
    optimizer.apply_gradients(zip(gradients, [kernel]))
