# SPDX-License-Identifier: Apache-2.0
"""A pool for the memory of large results.

The system clears new pages, which takes longer than computing their contents. So a new array of
4 MB or more gets a buffer from a pool; when the array and all of its views are gone, the buffer is
reused for the next array of similar size. Tensors use PyTorch's memory.

The limit of idle buffers is ``SOFTNPU_POOL_MB`` (in units of 2**20 bytes; 0 turns the pool off), by
default the smaller of 1024 and an eighth of the process's memory limit. ``set_pool_limit()``
changes it, and ``release_memory()`` empties the pool. Idle buffers count as the process's memory,
but the system reclaims their pages when it needs memory.
"""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

from softnpu import _core
from softnpu.errors import with_rule

__all__ = ["release_memory", "set_pool_limit"]


def release_memory() -> int:
    """Return the idle buffers of the pool to the system.

    Live results are not affected. The next large results are slower once.

    Returns
    -------
    int
        The bytes of the released buffers.
    """
    return _core.release_memory()


def set_pool_limit(limit: SupportsIndex) -> None:
    """Keep at most this much in idle buffers from now on.

    Parameters
    ----------
    limit : int
        In bytes. Idle buffers beyond it are returned to the system immediately, the oldest first. 0
        turns the pool off: NumPy itself allocates results.

    Raises
    ------
    TypeError
        limit is negative, needs more than 64 bits, or is not an integer.
    """
    try:
        _core.set_pool_limit(index(limit))
    except TypeError:
        expected = "expected a number of bytes, an int from 0 to 2**64 - 1"
        message = f"set_pool_limit: limit is {limit!r}; {expected}"
        raise with_rule(TypeError(message), rule="pool-limit") from None
