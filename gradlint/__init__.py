"""gradlint: finds where gradient flow is cut in TensorFlow 2 and Keras 3 training code, and says why.

`check_paths` and `check_source` are the command `gradlint check` as functions; what they return is listed in `__all__`
and documented in docs/api.md. All of it is loaded when it is first asked for: `import gradlint` costs nothing.
"""

# No import here: under `python -m gradlint` a `typing.py` of the checked project would be imported, that is, run.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradlint.api import check_paths, check_source
    from gradlint.config import Settings, load_settings
    from gradlint.errors import RunError
    from gradlint.rule import Finding, Place, Severity, Step
    from gradlint.verdicts import Cause, Confirmation, Origin, Verdict

__version__ = "0.1.0"

__all__ = [
    "Cause",
    "Confirmation",
    "Finding",
    "Origin",
    "Place",
    "RunError",
    "Settings",
    "Severity",
    "Step",
    "Verdict",
    "__version__",
    "check_paths",
    "check_source",
    "load_settings",
]

_HOMES = {
    "api": ("check_paths", "check_source"),
    "config": ("Settings", "load_settings"),
    "errors": ("RunError",),
    "rule": ("Finding", "Place", "Severity", "Step"),
    "verdicts": ("Cause", "Confirmation", "Origin", "Verdict"),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"gradlint.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
