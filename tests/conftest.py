# SPDX-License-Identifier: Apache-2.0
"""What tests share: an empty pool."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture
def empty_pool() -> Iterator[None]:
    """A pool of output buffers with nothing in it, and a limit of 256 MB."""
    import softnpu
    from softnpu import _core

    before = _core.info()["pool_limit"]
    gc.collect()
    softnpu.release_memory()
    softnpu.set_pool_limit(256 << 20)
    yield
    softnpu.set_pool_limit(before)
    softnpu.release_memory()
