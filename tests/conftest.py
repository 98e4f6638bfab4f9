# SPDX-License-Identifier: Apache-2.0
"""What tests share: the repository's root on the path, and an empty pool."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


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
