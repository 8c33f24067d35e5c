"""What TensorFlow and Keras symbols do to gradient flow."""
