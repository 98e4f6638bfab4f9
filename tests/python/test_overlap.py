# SPDX-License-Identifier: Apache-2.0
"""Whether an output overlaps an input or itself is decided exactly, not by bounds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softnpu

Floats = npt.NDArray[np.float32]


@st.composite
def two_views(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Two views of one shape on one small buffer, at any offsets and steps."""
    rank = draw(st.integers(1, 3))
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))
    buffer = np.ones(120, np.float32)
    views = []
    for _ in range(2):
        steps = draw(st.lists(st.integers(-5, 7), min_size=rank, max_size=rank))
        reach = [(n - 1) * s for n, s in zip(shape, steps, strict=True)]
        low = -sum(r for r in reach if r < 0)
        offset = low + draw(st.integers(0, 12))
        strides = tuple(4 * s for s in steps)
        views.append(np.lib.stride_tricks.as_strided(buffer[offset:], shape, strides))
    return views[0], views[1]


def is_same_view(a: Floats, b: Floats) -> bool:
    """Same first element, same steps wherever there is more than one element."""
    steps = [s for n, s in zip(a.shape, a.strides, strict=True) if n > 1]
    others = [s for n, s in zip(b.shape, b.strides, strict=True) if n > 1]
    return a.ctypes.data == b.ctypes.data and steps == others


def repeats_elements(view: Floats) -> bool:
    """Two elements lie at one address, found by listing all addresses."""
    offsets = np.zeros(view.shape, np.int64)
    for axis, (n, step) in enumerate(zip(view.shape, view.strides, strict=True)):
        shape = [1] * view.ndim
        shape[axis] = n
        offsets = offsets + (np.arange(n) * step).reshape(shape)
    return np.unique(offsets).size != offsets.size


@settings(max_examples=1500, deadline=None)
@given(two_views())
def test_only_true_overlap_is_refused(views: tuple[Floats, Floats]) -> None:
    """Refused: an output that repeats elements, or shares some with an input it is not equal to."""
    out, given_view = views
    other = np.ones(out.shape, np.float32)
    wrong = repeats_elements(out) or (
        np.shares_memory(out, given_view) and not is_same_view(out, given_view)
    )
    if wrong:
        with pytest.raises(softnpu.ParamInvalidError, match="gradInput"):
            softnpu.selu_backward(other, given_view, out=out)
    else:
        softnpu.selu_backward(other, given_view, out=out)


def test_interleaved_slices_of_one_array_are_accepted() -> None:
    """Even and odd columns of one array share its bounds, but no element."""
    both = np.arange(24, dtype=np.float32).reshape(4, 6)
    expect = softnpu.selu_backward(both[:, 1::2].copy(), both[:, 1::2].copy())
    out = softnpu.selu_backward(both[:, 1::2], both[:, 1::2], out=both[:, ::2])
    np.testing.assert_array_equal(out, expect)


def test_a_hard_layout_is_decided_without_hanging() -> None:
    """Many axes with steps that share no divisor: an answer comes, at worst that it overlaps."""
    buffer = np.zeros(200000, np.float32)
    shape, steps = (3,) * 8, (7919, 7907, 7901, 7883, 7879, 7877, 7873, 7867)
    strides = tuple(4 * s for s in steps)
    view = np.lib.stride_tricks.as_strided(buffer, shape, strides)
    with pytest.raises(softnpu.ParamInvalidError, match="gradInput"):
        softnpu.selu_backward(view, view, out=view)


def test_an_input_that_is_read_as_a_copy_is_not_overlapped() -> None:
    """One that is not aligned: the result would be right, and the caller's input be gone."""
    memory = np.zeros(41, np.uint8)
    memory = memory[-memory.ctypes.data % 4 :]
    grad, x = memory[1:33].view(np.float32), np.ones(8, np.float32)
    beside = np.zeros(8, np.float32)
    for arguments in ((grad, x), (x, grad)):
        with pytest.raises(softnpu.ParamInvalidError, match=r"gradInput overlaps \w+ in memory"):
            softnpu.selu_backward(*arguments, out=memory[4:36].view(np.float32))
        assert not memory.any()
        assert softnpu.selu_backward(*arguments, out=beside) is beside


def test_an_output_between_the_elements_of_a_copied_input() -> None:
    """It shares no byte with it."""
    packed = np.dtype([("tag", np.uint8, 5), ("g", np.float32), ("rest", np.uint8, 3)])
    assert packed.itemsize == 12
    out = np.zeros(18, np.float32)
    grad = out.view(packed)["g"]
    assert not grad.flags.aligned
    between, x = out[::3], np.ones(6, np.float32)
    assert softnpu.selu_backward(grad, x, out=between) is between
    with pytest.raises(softnpu.ParamInvalidError, match="gradInput overlaps gradOutput"):
        softnpu.selu_backward(grad, x, out=out[1::3])


@pytest.mark.torch
def test_an_input_that_is_lazily_negated_is_not_overlapped() -> None:
    """It is read as a copy, too."""
    torch = pytest.importorskip("torch")
    base = torch.ones(8, dtype=torch.complex64)
    grad = base.conj().imag
    assert grad.is_neg()
    with pytest.raises(softnpu.ParamInvalidError, match="gradInput overlaps gradOutput in memory"):
        softnpu.selu_backward(grad, torch.ones(8), out=torch.view_as_real(base)[:, 1])
    out = torch.view_as_real(base)[:, 0]
    assert softnpu.selu_backward(grad, torch.ones(8), out=out) is out
