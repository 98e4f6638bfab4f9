# SPDX-License-Identifier: Apache-2.0
"""These tests need PyTorch; without it they are skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

from softnpu import _core
from softnpu.torch import calls


@pytest.fixture
def without_softnpu_torch() -> Iterator[None]:
    """Softnpu's functions as they are while nobody has imported softnpu.torch."""
    _core.set_autograd(None)
    yield
    calls.take_part()
