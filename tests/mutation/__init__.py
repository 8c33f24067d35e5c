"""Machine-made faults: `source` finds the gradient calls, the operators break them, `measure` asks gradlint."""
