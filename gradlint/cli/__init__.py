"""The command line: one module per command. click is used here and nowhere else."""
