# SPDX-License-Identifier: Apache-2.0
"""max_unpool3d_backward against its definition: a gather that keeps every bit."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from softnpu.judging.ulp import same_bits
from tests.support.cases import MOVED
from tests.support.specials import random_bits

ONES, ZEROS = [1, 1, 1], [0, 0, 0]
# Bytes of operands: elements are asked for ahead; results are written past the caches, too.
LARGE = {"asked for ahead": 8 << 20, "past the caches": 18 << 20}
GUARD = 7  # elements before and after a result; odd, so that it begins off a line


def large(
    inner: tuple[int, int, int], dtype: np.dtype[Any], size: int, *, ascending: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], list[int]]:
    """Make gradOutput, indices and outputSize of so many bytes together."""
    rng = np.random.default_rng(61)
    outer = [2 * n for n in inner]
    count = int(np.prod(inner))
    channels = -(-size // (count * (8 + 9 * dtype.itemsize)))
    grad = random_bits(rng, (1, channels, *outer), dtype)
    indices = rng.integers(0, 8 * count, (1, channels, count))
    if ascending:
        indices.sort(axis=-1)
    return grad, indices.reshape(1, channels, *inner), outer


def before_a_guard(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Copy an array to where memory ends: what reads behind it crashes."""
    pages = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = np.frombuffer(mmap.mmap(-1, pages + mmap.PAGESIZE), np.uint8)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    no_access = 0
    assert protect(ctypes.c_void_p(memory.ctypes.data + pages), mmap.PAGESIZE, no_access) == 0
    copy = memory[pages - array.nbytes : pages].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


# Of elements that are together a multiple of four bytes for all types, for some, for none.
@pytest.mark.parametrize("outer", [(8, 10, 11), (9, 10, 11), (9, 13, 11)], ids=str)
@pytest.mark.parametrize("lead", [(2, 3), (4,)], ids=["rank 5", "rank 4"])
@pytest.mark.parametrize("name", MOVED)
def test_every_bit_is_kept(name: str, lead: tuple[int, ...], outer: tuple[int, int, int]) -> None:
    """Law: values are moved bit for bit, NaN payloads and 64-bit integers included."""
    rng = np.random.default_rng(60)
    grad = before_a_guard(random_bits(rng, (*lead, *outer), np.dtype(name)))
    pooled = random_bits(rng, (*lead, 4, 5, 6), np.dtype(name))
    last = int(np.prod(outer)) - 1
    indices = rng.integers(0, last + 1, pooled.shape)
    indices[..., 0, :, 0] = last
    indices[..., 1, :, 0] = 0
    got = softnpu.max_unpool3d_backward(grad, pooled, indices, list(outer), ONES, ZEROS)
    expected = reference.max_unpool3d_backward(grad, pooled, indices, list(outer), ONES, ZEROS)
    assert same_bits(got, expected)


@pytest.mark.parametrize("ascending", [False, True], ids=["random", "sorted"])
@pytest.mark.parametrize("inner", [(3, 5, 7), (11, 13, 17)], ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", LARGE)
def test_large_gathers(
    size: str, dtype: type, inner: tuple[int, int, int], ascending: bool
) -> None:
    """Law: the same from memory, in short rows and long ones, and nothing beside the result."""
    grad, indices, outer = large(inner, np.dtype(dtype), LARGE[size], ascending=ascending)
    flat = (*indices.shape[:2], -1)
    expected = np.take_along_axis(grad.reshape(flat), indices.reshape(flat), -1)
    memory = np.full(indices.size + 2 * GUARD, 1, dtype)
    out = memory[GUARD:-GUARD].reshape(indices.shape)
    softnpu.max_unpool3d_backward(grad, out.copy(), indices, outer, ONES, ZEROS, out=out)
    assert same_bits(out, expected.reshape(out.shape))
    assert (memory[:GUARD] == 1).all()
    assert (memory[-GUARD:] == 1).all()
    made = softnpu.max_unpool3d_backward(grad, out, indices, outer, ONES, ZEROS)
    assert same_bits(made, out)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_shape_and_any_indices(data: st.DataObject) -> None:
    """Law: out[..., i] = gradOutput[..., indices[..., i]], for repeated indices too."""
    size = st.integers(1, 5)
    lead = data.draw(st.tuples(st.integers(0, 3)) | st.tuples(st.integers(0, 3), size))
    inner = data.draw(st.tuples(size, size, size))
    outer = tuple(n + data.draw(st.integers(0, 3)) for n in inner)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    grad = rng.standard_normal((*lead, *outer))
    indices = rng.integers(0, int(np.prod(outer)), (*lead, *inner))
    got = softnpu.max_unpool3d_backward(
        grad, np.zeros(indices.shape), indices, outer, [2, 1, 3], [0, 1, 0]
    )
    for position in np.ndindex(indices.shape):
        flat = grad[position[:-3]].ravel()
        assert got[position] == flat[indices[position]]
    assert got.shape == indices.shape


@pytest.mark.parametrize("position", [0, 37, 59])
@pytest.mark.parametrize("value", [-1, 60, 2**40, -(2**63), 2**63 - 1])
def test_an_index_out_of_range_is_an_index_error(value: int, position: int) -> None:
    """Law: any index below 0 or at least D*H*W is an IndexError; the next call works again."""
    grad = np.arange(60.0).reshape(1, 1, 3, 4, 5)
    indices = np.arange(60).reshape(grad.shape)
    bad = indices.copy()
    bad.ravel()[position] = value
    with pytest.raises(IndexError, match=str(value)) as caught:
        softnpu.max_unpool3d_backward(grad, grad, bad, [3, 4, 5], ONES, ZEROS)
    assert getattr(caught.value, "status", None) == 361001
    with pytest.raises(IndexError, match=str(value)):
        reference.max_unpool3d_backward(grad, grad, bad, [3, 4, 5], ONES, ZEROS)
    again = softnpu.max_unpool3d_backward(grad, grad, indices, [3, 4, 5], ONES, ZEROS)
    assert same_bits(again, grad)


@pytest.mark.parametrize("position", [0, 5, 77, 1200, 2239, 2240, 2430])
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
@pytest.mark.parametrize("size", LARGE)
def test_the_first_of_many_bad_indices_is_named(size: str, dtype: type, position: int) -> None:
    """Law: so it is in large calls, wherever in a row it lies, and whichever thread finds it."""
    inner = (11, 13, 17)
    grad, indices, outer = large(inner, np.dtype(dtype), LARGE[size], ascending=False)
    channel = indices.shape[1] // 3
    rows = indices.reshape(indices.shape[1], -1)
    rows[channel, position] = -(position + 2)
    rows[channel + 1 :, ::7] = indices.size * 8
    rows[channel, position + 1 :] = -1
    pooled = np.zeros(indices.shape, dtype)
    out = np.zeros(indices.size + GUARD, dtype)[GUARD:].reshape(indices.shape)
    where = ", ".join(map(str, np.unravel_index(channel * 2431 + position, indices.shape)))
    with pytest.raises(IndexError, match=rf"\[{where}\] is {-(position + 2)};"):
        softnpu.max_unpool3d_backward(grad, pooled, indices, outer, ONES, ZEROS, out=out)
