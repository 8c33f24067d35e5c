"""Rules about layers and weights that a model holds, makes or forgets."""
