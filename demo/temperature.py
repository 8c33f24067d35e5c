"""A step for a model that is given from outside: what can be known of it without seeing that model?"""

import tensorflow as tf

temperature = tf.Variable(1.5, name="temperature")


def train_step(model, images, labels):
    with tf.GradientTape(persistent=True) as tape:
        logits = model(images) / temperature
        loss = tf.reduce_mean((logits - labels) ** 2)
    penalised = loss + 0.01 * tf.reduce_sum(model.kernel**2)
    cooling = tape.gradient(loss, [temperature])
    return cooling, tape.gradient(loss, model.trainable_variables), tape.gradient(penalised, [model.kernel])
