"""The one place that all patches report to, while at least one watch is on.

It hands each observation to the accounts of the watches that are on. TensorFlow and Keras are patched when they have
been imported, and not a moment earlier.
"""

from __future__ import annotations

import threading

from gradlint.probe.account import Account
from gradlint.probe.hub_state import HubState
from gradlint.probe.keras_hooks import KerasHooks
from gradlint.probe.patches import Patches, WhenImported
from gradlint.probe.tape_hooks import TapeHooks
from gradlint.probe.tensor_hooks import TensorHooks


class Hub:
    """Watches come and go; the first patches, the last restores."""

    def __init__(self) -> None:
        self.state = HubState()
        self.tapes = TapeHooks(self.state)
        self._keras = KerasHooks(self.state)
        self._tensors = TensorHooks(self.state)
        self._patches = Patches()
        self._waiting: WhenImported | None = None
        self._lock = threading.RLock()

    def join(self, account: Account) -> None:
        """Tell this account what happens from here on."""
        with self._lock:
            self.state.accounts.append(account)
            if len(self.state.accounts) == 1:
                self._install()

    def leave(self, account: Account) -> None:
        """Tell it no more; the last one to leave restores every patch."""
        with self._lock:
            accounts, recorder = self.state.accounts, self.state.recorder
            if account in accounts:
                accounts.remove(account)
                account.ran.update(op.stack for op in recorder.ops if op.stack)
                account.gradients.graphs.update((id(graph), graph) for graph in recorder.graphs.values())
            if not accounts:
                self._remove()

    def _install(self) -> None:
        self.state.restart()
        self._waiting = WhenImported(
            {
                "tensorflow": self._patch_tensorflow,
                "keras": self._patch_keras,
                "tf_keras": self._patch_tf_keras,
            }
        )
        self._waiting.install()

    def _remove(self) -> None:
        if self._waiting is not None:
            self._waiting.remove()
        self._patches.undo()
        self.state.recorder.close()

    def _patch_tensorflow(self) -> None:
        self.state.recorder.start()
        self.tapes.install(self._patches)
        self._tensors.install(self._patches)

    def _patch_keras(self) -> None:
        if self._keras.install(self._patches):
            self._tensors.install_keras(self._patches)

    def _patch_tf_keras(self) -> None:
        self._keras.install_tf_keras(self._patches)


HUB = Hub()
