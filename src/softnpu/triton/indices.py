# SPDX-License-Identifier: Apache-2.0
"""Indices that are out of range: kernels record the first one, and the host raises the error.

A call checks immediately, which waits for the GPU. In a block of `deferred_index_checks`, the end
of the block checks instead. For CUDA graphs, `check_indices` checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from softnpu.triton.devices import OPTIONS
from softnpu.triton.layouts import merge, offsets_of

NONE = torch.iinfo(torch.int64).max
_LOOKED = tl.constexpr(0x736F66746E7075)  # distinguishes memory that was never written


class WrongIndexError(IndexError):
    """An index is out of range. Distinct from the caller's errors in a block of deferred checks."""


class _Note(NamedTuple):
    """Memory in which the kernels of a call record an invalid index, and data for its message."""

    found: Tensor  # its position in row-major order, or NONE; its value; _LOOKED once kernels ran
    function: str
    shape: tuple[int, ...]
    limit: int
    is_captured: bool


_watched: list[_Note] = []
_deferred = 0


@triton.jit
def good(index, at, inside, limit, found):
    """Return which indices are in range, and record the position of the first that is not."""
    is_good = (index >= 0) & (index < limit)
    tl.atomic_min(found + at * 0, at.to(tl.int64), mask=inside & (is_good == 0), sem="relaxed")
    return is_good


@triton.jit
def _note_value(found, indices, sizes, strides, NONE: tl.constexpr):
    """Record the value at the position that was found, and that the kernels ran."""
    tl.store(found + 2, _LOOKED)
    position = tl.load(found)
    if position != NONE:
        tl.store(found + 1, tl.load(indices + offsets_of(position, sizes, strides)).to(tl.int64))


def new_note(like: Tensor) -> Tensor:
    """Create the memory for the position of the first invalid index, an atomic minimum."""
    return torch.full((3,), NONE, dtype=torch.int64, device=like.device)


def settle(found: Tensor, function: str, indices: Tensor, limit: int) -> None:
    """Check what the kernels of a call recorded, or defer this check.

    Raises
    ------
    WrongIndexError
        With the first index of the call that is out of range.
    """
    sizes, strides = merge(indices.shape, [indices.stride()])
    _note_value[(1,)](found, indices, sizes, strides[0], NONE=NONE, **OPTIONS)
    is_captured = indices.is_cuda and torch.cuda.is_current_stream_capturing()
    note = _Note(found, function, tuple(indices.shape), limit, is_captured)
    if _deferred or is_captured:
        _watched.append(note)
    else:
        _raise_if_found(note)


@contextmanager
def deferred_index_checks() -> Iterator[None]:
    """Let calls of max_unpool3d and its gradient on GPUs not wait until their indices are checked.

    The end of the block waits once for all calls, in all threads, and raises the error of the first
    that failed. Elements of a result whose index was out of range are 0.

    Raises
    ------
    softnpu.IndexOutOfRangeError
        With the function, the position, and the value.
    """
    global _deferred
    _deferred += 1
    try:
        yield
    finally:
        _deferred -= 1
    check_indices()


def check_indices() -> None:
    """Wait for the GPUs, and check the calls in CUDA graphs and deferred blocks.

    Raises
    ------
    softnpu.IndexOutOfRangeError
        With the function, the position, and the value.
    """
    for device in {note.found.device for note in _watched if note.found.is_cuda}:
        torch.cuda.synchronize(device)
    notes = list(_watched)
    _watched[:] = [note for note in notes if note.is_captured]
    for note in notes:
        _raise_if_found(note)


def _raise_if_found(note: _Note) -> None:
    position, value, looked = note.found.tolist()
    if position == NONE or looked != _LOOKED.value:  # a graph may not have been replayed yet
        return
    note.found.fill_(NONE)  # a graph can be replayed
    where: list[int] = []
    for size in reversed(note.shape):
        where.insert(0, position % size)
        position //= size
    raise WrongIndexError(
        f"{note.function}: indices{where} is {value}; expected 0 or more and less than "
        f"{note.limit}, the product of outputSize"
    )
