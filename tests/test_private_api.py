"""What the probe uses of TensorFlow without a promise is there."""

from __future__ import annotations

import pytest

pytest.importorskip("tensorflow")

from gradlint.probe import private_api


def test_the_private_api_is_complete_under_this_tensorflow() -> None:
    assert private_api.self_test() == []
