"""Rules about gradients that are NaN or infinite, and the formulas that make them."""
