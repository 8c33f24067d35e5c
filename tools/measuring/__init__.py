"""How the table of measured functions is made: what is public, how it is called, what its gradients are."""
