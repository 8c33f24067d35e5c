"""The runtime half of gradlint: asks TensorFlow what the gradients of a program really are, and says where they end.

`trace` runs a function, `watch` observes existing code, `updates` compares variables. The only part of gradlint that
imports TensorFlow, and only when one of them is called.
"""

from gradlint.probe.flow_error import GradientFlowError
from gradlint.probe.report import GradientReport, VariableReport
from gradlint.probe.trace import trace
from gradlint.probe.updates import UpdateReport, VariableUpdate, updates
from gradlint.probe.watch import Watch, watch

__all__ = [
    "GradientFlowError",
    "GradientReport",
    "UpdateReport",
    "VariableReport",
    "VariableUpdate",
    "Watch",
    "trace",
    "updates",
    "watch",
]
