"""What programs that write text are asked for by the environment: none of it here, so that the text is the same
anywhere.

pytest cuts no line short where `CI` or `BUILD_NUMBER` is set, colours follow `FORCE_COLOR`, widths `COLUMNS`.
"""

from __future__ import annotations

import os

#: Variables by which people and CI systems ask for another output.
ASKING = (
    "BUILD_NUMBER",
    "CI",
    "CI_PROJECT_DIR",
    "COLUMNS",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_WORKSPACE",
    "GRADLINT_CONFIG",
    "GRADLINT_OUTPUT_FORMAT",
    "LINES",
    "NO_COLOR",
    "PYTEST_ADDOPTS",
    "PY_COLORS",
    "TERM_PROGRAM",
    "VTE_VERSION",
)


def plain_environment() -> dict[str, str]:
    """The environment of this process without them."""
    return {name: value for name, value in os.environ.items() if name not in ASKING}
