"""Rules about gradients that exist and teach nothing: exact zeros and their kin."""
