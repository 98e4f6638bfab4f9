# SPDX-License-Identifier: Apache-2.0
"""The memory of large results, which is kept for the next ones.

The system clears every page that it gives to a process, which takes longer than a kernel needs to
compute what goes there. So a new array of 4 MB or more gets a buffer from a pool; when it and all
views of it are gone, the buffer waits there for the next array of about its size. Tensors get their
memory from PyTorch.

Idle buffers have a limit: ``SOFTNPU_POOL_MB`` (in units of 2**20 bytes; 0 turns the pool off), by
default the smaller of 1024 and an eighth of the memory that the process may use;
``set_pool_limit()`` sets another, and ``release_memory()`` empties the pool. Idle buffers still
count as the process's memory, but the system takes their pages when it is short of it.
"""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

from softnpu import _core
from softnpu.errors import with_rule

__all__ = ["release_memory", "set_pool_limit"]


def release_memory() -> int:
    """Return the idle buffers of the pool to the system.

    Results that are alive are not touched. The next large results are slower once.

    Returns
    -------
    int
        How many bytes the buffers had.
    """
    return _core.release_memory()


def set_pool_limit(limit: SupportsIndex) -> None:
    """Keep at most this much in idle buffers from now on.

    Parameters
    ----------
    limit : int
        In bytes. What is idle beyond it goes back to the system at once, the oldest first. 0 turns
        the pool off: results are allocated as NumPy does it itself.

    Raises
    ------
    TypeError
        limit is negative, needs more than 64 bits, or is no integer.
    """
    try:
        _core.set_pool_limit(index(limit))
    except TypeError:
        expected = "expected a number of bytes, an int from 0 to 2**64 - 1"
        message = f"set_pool_limit: limit is {limit!r}; {expected}"
        raise with_rule(TypeError(message), rule="pool-limit") from None
