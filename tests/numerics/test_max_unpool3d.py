# SPDX-License-Identifier: Apache-2.0
"""max_unpool3d against its definition: a scatter that keeps every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from softnpu import reference
from softnpu.judging.ulp import same_bits
from tests.support import laws
from tests.support.cases import MOVED
from tests.support.layouts import Layout, any_layout, place, place_output
from tests.support.specials import random_bits

ONES, ZEROS = [1, 1, 1], [0, 0, 0]
BOTH = (np.int64, np.int32)  # types of indices
Array = npt.NDArray[Any]


def unpool(self: Array, indices: Array, size: tuple[int, ...], **more: Any) -> Array:
    """Return what the device computes."""
    return softnpu.max_unpool3d(self, indices, size, ONES, ZEROS, **more)


@pytest.mark.parametrize("lead", [(2, 3), (4,)], ids=["rank 5", "rank 4"])
@pytest.mark.parametrize("index_type", BOTH)
@pytest.mark.parametrize("name", MOVED)
def test_every_bit_is_kept(name: str, index_type: type, lead: tuple[int, ...]) -> None:
    """Law: values are moved bit for bit, NaN payloads and 64-bit integers included."""
    rng = np.random.default_rng(95)
    size = (5, 6, 7)
    self = random_bits(rng, (*lead, 4, 5, 6), np.dtype(name))
    indices = rng.integers(0, 210, self.shape).astype(index_type)
    indices[..., 0, :, 0], indices[..., 1, :, 0] = 209, 0
    got = unpool(self, indices, size)
    assert same_bits(got, reference.max_unpool3d(self, indices, size, ONES, ZEROS))


# One plane, which threads share; a few; many. Planes in a cache, and larger ones.
@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((1, 1, 9, 30, 31), (20, 61, 70)),
        ((1, 1, 70, 71, 72), (71, 72, 73)),
        ((3, 60, 60, 61), (70, 71, 72)),
        ((4, 30, 3, 8, 9), (6, 16, 18)),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["int8", "float32"])
@pytest.mark.parametrize("kind", ["random", "one place", "ascending", "descending"])
def test_large_scatters(
    kind: str, name: str, shape: tuple[int, ...], size: tuple[int, int, int]
) -> None:
    """Law: the last of repeated indices counts, for any number of threads and any memory of out."""
    rng = np.random.default_rng(96)
    self, cells = random_bits(rng, shape, np.dtype(name)), int(np.prod(size))
    count, planes = int(np.prod(shape[-3:])), int(np.prod(shape[:-3]))
    if kind == "random":
        indices = rng.integers(0, cells, (planes, count))
    elif kind == "one place":
        indices = np.where(rng.random((planes, count)) < 0.999, cells // 2, 0)
    elif kind == "ascending":
        indices = np.broadcast_to(np.arange(count) * cells // count, (planes, count))
    else:
        indices = np.broadcast_to(np.arange(cells - 1, cells - 1 - count, -1), (planes, count))
    expected = np.zeros((planes, cells), self.dtype)
    for plane in range(planes):
        # The last occurrence of each index, found in the reversed row.
        places, first = np.unique(indices[plane, ::-1], return_index=True)
        expected[plane, places] = self.reshape(planes, count)[plane, count - 1 - first]
    expected = expected.reshape(*shape[:-3], *size)
    indices = indices.reshape(shape)
    for threads in laws.THREADS:
        with laws.threads(threads):
            assert same_bits(unpool(self, indices, size), expected), f"{threads} threads"
            for layout in (Layout("offset", offset=1), Layout("last", order="last")):
                out = place_output(expected.shape, self.dtype, layout)
                unpool(self, indices, size, out=out.view)
                assert same_bits(out.view.copy(), expected), f"{threads} threads, {layout.name}"
                assert out.surroundings_unchanged()


@settings(max_examples=200, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_any_shape_in_any_layout(data: st.DataObject, seed: int) -> None:
    """Law: no layout of self, indices or out changes a bit; nothing beside out is written."""
    size = st.integers(1, 5)
    lead = data.draw(st.tuples(st.integers(0, 3)) | st.tuples(st.integers(0, 3), size))
    inner = data.draw(st.tuples(size, size, size))
    outer = tuple(n + data.draw(st.integers(0, 3)) for n in inner)
    rng = np.random.default_rng(seed)
    self = rng.standard_normal((*lead, *inner))
    kind = data.draw(st.sampled_from((np.int32, np.int64)))
    indices = rng.integers(0, int(np.prod(outer)), self.shape).astype(kind)
    expected = np.zeros((*lead, *outer))
    for position in np.ndindex(self.shape):
        expected[position[:-3]].reshape(-1)[indices[position]] = self[position]
    inputs = [place(values, data.draw(any_layout(5))) for values in (self, indices)]
    out = place_output(expected.shape, np.float64, data.draw(any_layout(5)))
    assert unpool(inputs[0].view, inputs[1].view, outer, out=out.view) is out.view
    assert same_bits(out.view.copy(), expected)
    assert out.surroundings_unchanged()
    assert all(placed.buffer_unchanged() for placed in inputs)


@pytest.mark.parametrize("position", [0, 37, 59])
@pytest.mark.parametrize(
    ("index_type", "value"),
    [
        *((kind, value) for kind in BOTH for value in (-1, 120, 2**31 - 1, -(2**31))),
        *((np.int64, value) for value in (2**32, 2**40, -(2**63), 2**63 - 1)),
    ],
)
def test_an_index_out_of_range_changes_nothing(index_type: type, value: int, position: int) -> None:
    """Law: it is an IndexError that names the first one, and out is as it was."""
    self = np.arange(60.0).reshape(1, 1, 3, 4, 5)
    indices = np.arange(60, dtype=index_type).reshape(self.shape)
    bad = indices.copy()
    bad.ravel()[position] = value
    bad.ravel()[position + 1 :] = -7
    out = np.full((1, 1, 4, 5, 6), 5.0)
    where = ", ".join(map(str, np.unravel_index(position, self.shape)))
    with pytest.raises(IndexError, match=rf"indices\[{where}\] is {value};") as caught:
        unpool(self, bad, (4, 5, 6), out=out)
    assert getattr(caught.value, "status", None) == 361001
    assert (out == 5).all()
    with pytest.raises(IndexError, match=str(value)):
        reference.max_unpool3d(self, bad, (4, 5, 6), ONES, ZEROS)
    assert unpool(self, indices, (4, 5, 6)).sum() == self.sum()


@pytest.mark.parametrize("position", [0, 77, 100_000, 299_999])
@pytest.mark.parametrize("threads", laws.THREADS)
def test_the_first_of_many_bad_indices_is_named(threads: int, position: int) -> None:
    """Law: whichever thread finds it."""
    shape = (2, 3, 50, 20, 50)
    self, indices = np.ones(shape, np.float32), np.zeros(shape, np.int64)
    rows = indices.reshape(-1)
    rows[position] = -(position + 2)
    rows[position + 1 :: 7] = 1 << 40
    where = ", ".join(map(str, np.unravel_index(position, shape)))
    message = rf"\[{where}\] is {-position - 2};"
    with laws.threads(threads), pytest.raises(IndexError, match=message):
        unpool(self, indices, (50, 20, 50))
