# SPDX-License-Identifier: Apache-2.0
"""max_unpool3d_backward against its definition: a gather that keeps every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from tests.support import specials as sp
from tests.support.cases import MOVED
from tests.support.ulp import same_bits

ONES, ZEROS = [1, 1, 1], [0, 0, 0]


def any_bits(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Draw values of any type from all bit patterns: signalling NaN, subnormals, large integers."""
    return sp.random_bits(rng, shape, dtype)


@pytest.mark.parametrize("lead", [(2, 3), (4,)], ids=["rank 5", "rank 4"])
@pytest.mark.parametrize("name", MOVED)
def test_every_bit_is_kept(name: str, lead: tuple[int, ...]) -> None:
    """Law: values are moved bit for bit, NaN payloads and 64-bit integers included."""
    rng = np.random.default_rng(60)
    grad = any_bits(rng, (*lead, 9, 10, 11), np.dtype(name))
    pooled = any_bits(rng, (*lead, 4, 5, 6), np.dtype(name))
    indices = rng.integers(0, 990, pooled.shape)
    got = softnpu.max_unpool3d_backward(grad, pooled, indices, [9, 10, 11], ONES, ZEROS)
    expected = reference.max_unpool3d_backward(grad, pooled, indices, [9, 10, 11], ONES, ZEROS)
    assert same_bits(got, expected)


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


def test_document_sample() -> None:
    """Law: the document's sample gives ones everywhere."""
    values = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    indices = np.array([0, 0, 0, 3, 0, 0, 0, 8, 0, 0, 0, 11, 0, 0, 0, 13]).reshape(values.shape)
    got = softnpu.max_unpool3d_backward(
        np.ones_like(values), values, indices, [1, 4, 4], [1, 2, 3], [1, 2, 3]
    )
    assert same_bits(got, np.ones_like(values))


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
