"""The error that a test sees when gradients do not flow, or frozen entries move."""


class GradientFlowError(AssertionError):
    """What was asserted about gradients or updates does not hold; the first line says the cause."""


def shortened(lines: list[str], most: int = 15) -> str:
    """At most so many lines; the last one says how many were left out."""
    if len(lines) <= most:
        return "\n".join(lines)
    return "\n".join([*lines[: most - 1], f"... and {len(lines) - most + 1} lines more (`str(report)` has them all)"])
