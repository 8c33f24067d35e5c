"""gradlint: finds where gradient flow is cut in TensorFlow 2 and Keras 3 training code, and says why."""

__version__ = "0.1.0"
