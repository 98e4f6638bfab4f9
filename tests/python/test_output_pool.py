# SPDX-License-Identifier: Apache-2.0
"""The memory of large results is kept for the next ones, and handed out to one at a time."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu
from tests.python.foreign import Foreign
from tests.support.pooled import ROWS, SMALLEST, Array, address, idle, live, result, usage

pytestmark = pytest.mark.usefixtures("empty_pool")


def test_the_memory_of_a_result_that_is_gone_is_used_again() -> None:
    """At the same address, and with the right contents."""
    first = result(1)
    at = address(first)
    del first
    assert idle() == SMALLEST
    second = result(2)
    assert address(second) == at
    assert (second == 2).all()
    assert usage() == (0, SMALLEST)


def test_results_below_4_mb_have_nothing_to_do_with_it() -> None:
    """One row less."""
    small = result(rows=ROWS - 1)
    assert live() == 0
    del small
    assert idle() == 0


@pytest.mark.parametrize("rows", [ROWS + 1, ROWS + 127, 3 * ROWS - 5, 17 * ROWS + 3])
def test_sizes_are_rounded_up_by_less_than_an_eighth(rows: int) -> None:
    """And the whole result can be written."""
    got = result(3, rows)
    assert got.nbytes <= live() <= got.nbytes * 9 // 8
    assert (got == 3).all()


def test_a_slightly_smaller_result_fits_a_much_smaller_one_does_not() -> None:
    """Up to an eighth may be wasted."""
    first = result(rows=4 * ROWS)
    at = address(first)
    del first
    second = result(5, rows=4 * ROWS - 100)
    assert address(second) == at
    assert (second == 5).all()
    del second
    third = result(rows=3 * ROWS)
    assert address(third) != at
    assert usage() == (4 * SMALLEST, 3 * SMALLEST)


def test_a_large_result_is_an_ordinary_array() -> None:
    """It owns its memory, and can be all that an array can."""
    got = result(2)
    assert type(got) is np.ndarray
    assert got.flags.owndata
    assert got.flags.writeable
    assert got.flags.c_contiguous
    assert got.flags.aligned
    assert got.base is None
    got[0] = 7
    same = pickle.loads(pickle.dumps(got))
    for twin in (same, got.copy(), copy.deepcopy(got)):
        assert np.array_equal(twin, got)
    assert live() == SMALLEST  # copies are NumPy's own


@pytest.mark.parametrize("rows", [3, ROWS // 2, ROWS + 1, 3 * ROWS])
def test_a_large_result_can_be_resized(rows: int) -> None:
    """To less and to more, in and out of what the pool takes; new elements are zeros."""
    got = result(2)
    got.resize((rows, 1024), refcheck=False)
    assert (got[:ROWS] == 2).all()
    assert not got[ROWS:].any()
    assert got.flags.owndata
    assert (live() > 0) == (got.nbytes >= SMALLEST)
    del got
    assert live() == 0


def test_other_arrays_do_not_come_from_the_pool() -> None:
    """NumPy allocates as before once a result is made."""
    got = result()
    others = [np.empty(SMALLEST, np.uint8), np.zeros(SMALLEST, np.uint8)]
    assert live() == SMALLEST
    assert len(others) == 2
    del got


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int8, np.int32])
def test_data_types(dtype: Any) -> None:
    """What NumPy itself does not know too."""
    x = np.ones(SMALLEST, dtype)
    for _ in range(3):
        got = softnpu.selu_backward(x, x)
        assert got.dtype == x.dtype
        assert live() == got.nbytes
        assert got.tobytes() == softnpu.selu_backward(x[:4], x[:4])[:1].tobytes() * SMALLEST


def test_operators_that_do_not_go_element_by_element() -> None:
    """Old contents do not shine through where a kernel writes only what it must."""
    x = np.ones((1, 1, 2, 1024, 1024), np.float32)
    zeros = np.zeros_like(x)
    for scale in (1, 2, 3):
        got = softnpu.upsample_nearest3d_backward(x * scale, (2, 1024, 1024), x.shape)
        assert (got == scale).all()
        del got
        got = softnpu.upsample_nearest3d_backward(zeros, (2, 1024, 1024), x.shape)
        assert not got.any()
        del got
    assert idle() == x.nbytes


VIEWS: dict[str, Callable[[Array], Any]] = {
    "slice": lambda a: a[1:2, 3:5],
    "transposed": lambda a: a.T,
    "flat iterator": lambda a: a.flat,
    "another type": lambda a: a.view(np.uint8)[-1:],
    "memoryview": memoryview,
    "memoryview of a view": lambda a: memoryview(a[3]),
    "from a buffer": lambda a: np.frombuffer(a, np.float32),
    "through DLPack": np.from_dlpack,
    "in a list": lambda a: [a],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_buffer_is_not_reused_while_it_is_viewed(name: str) -> None:
    """Whatever keeps the array alive keeps its memory."""
    got = result(4)
    view = VIEWS[name](got)
    del got
    gc.collect()
    assert idle() == 0
    others = [result(5) for _ in range(3)]
    first = view[0] if isinstance(view, list) else view
    seen = np.asarray(first) if not isinstance(first, np.flatiter) else np.asarray(first.base)
    assert set(np.unique(seen.reshape(-1).view(np.uint8))) <= set(np.float32(4).tobytes())
    del view, first, seen, others
    gc.collect()
    assert live() == 0
    assert idle() == 4 * SMALLEST


def test_results_of_other_libraries_come_from_the_pool() -> None:
    """Through DLPack; the deleter gives the memory back."""
    got = result(2, convert=lambda a: Foreign(a.copy()))
    assert type(got) is Foreign
    at = address(got.array)
    view = got.array[5:]
    del got
    assert live() == SMALLEST
    del view
    assert usage() == (SMALLEST, 0)
    assert address(result(3)) == at


# What may happen to results: one is made, or one that is held is dropped, or replaced by a view.
STEPS = st.lists(
    st.tuples(st.sampled_from(["make", "drop", "view", "release"]), st.integers(0, 7)), max_size=40
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_no_two_results_share_memory(steps: list[tuple[str, int]]) -> None:
    """In any order of making, dropping and viewing, of sizes that share buffers."""
    softnpu.set_pool_limit(3 * SMALLEST)
    held: list[tuple[Array, int]] = []
    for number, (step, which) in enumerate(steps):
        if step == "make":
            held.append((result(number, ROWS + 16 * which), number))
        elif step == "release":
            softnpu.release_memory()
        elif held:
            array, value = held.pop(which % len(held))
            if step == "view":
                held.append((array[which:], value))
            del array
        assert idle() <= 3 * SMALLEST
        assert all(a[0, 0] == a[-1, -1] == value for a, value in held)
    assert all((a == value).all() for a, value in held)
    held.clear()
    assert live() == 0


def test_threads() -> None:
    """Each thread finds in its results what it computed, while others make, drop and release."""
    softnpu.set_pool_limit(4 * SMALLEST)
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            softnpu.release_memory()

    def work(number: int) -> bool:
        held: list[Array] = []
        fine = True
        for i in range(30):
            held.append(result(number, ROWS + 16 * (i % 3)))
            if i % 3:
                held.pop(0)
            fine = fine and all((a[::97] == number).all() for a in held)
        return fine

    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        with ThreadPoolExecutor(6) as pool:
            assert all(pool.map(work, range(12)))
    finally:
        stop.set()
        disturber.join()
    gc.collect()
    assert live() == 0
    assert idle() <= 4 * SMALLEST
