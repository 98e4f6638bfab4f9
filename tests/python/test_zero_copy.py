# SPDX-License-Identifier: Apache-2.0
"""Arrays are read and written where they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import softnpu
from tests.python.operators import OPERATORS, TENSORS, UNPOOL, UPSAMPLE, Operator

Array = npt.NDArray[Any]

# Other layouts of the same values; each returns a view that is not contiguous or not at the start.
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "reversed": lambda a: a[tuple(slice(None, None, -1) for _ in a.shape)].copy()[
        tuple(slice(None, None, -1) for _ in a.shape)
    ],
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "every other": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "offset": lambda a: np.concatenate([np.zeros(3, a.dtype), a.ravel()])[3:].reshape(a.shape),
    "subclass": lambda a: a.view(np.memmap),
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("operator", "name"), TENSORS, ids=lambda v: getattr(v, "name", v))
def test_inputs_of_any_layout_give_the_same_bits(
    operator: Operator, name: str, layout: str
) -> None:
    """Negative strides and offsets included."""
    moved = LAYOUTS[layout](operator.arrays[name])
    assert np.array_equal(moved, operator.arrays[name])
    got = operator(**{name: moved})
    assert got.tobytes() == operator().tobytes()


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_out_is_returned_and_written_in_place(operator: Operator) -> None:
    """The very object, and the memory behind it."""
    buffer = np.full(operator.out.size + 2, 99, np.float32)
    out = buffer[1:-1].reshape(operator.out.shape)
    assert operator(out=out) is out
    assert buffer[0] == buffer[-1] == 99
    assert buffer[1:-1].tobytes() == operator().tobytes()


@pytest.mark.parametrize("layout", ["reversed", "transposed", "every other"])
@pytest.mark.parametrize("operator", OPERATORS[:4], ids=lambda o: o.name)
def test_out_of_any_layout_is_written_in_place(operator: Operator, layout: str) -> None:
    """The one operator whose output must be contiguous is not among them."""
    out = LAYOUTS[layout](operator.out)
    assert not out.flags.c_contiguous
    assert operator(out=out) is out
    assert np.array_equal(out, operator())


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_a_new_result_is_a_plain_contiguous_array_of_its_own(operator: Operator) -> None:
    """Whatever the inputs' layout and class."""
    arrays = {n: a[::-1].copy()[::-1].view(np.memmap) for n, a in operator.arrays.items()}
    got = operator(**arrays)
    assert type(got) is np.ndarray
    assert got.flags.c_contiguous
    assert got.flags.owndata
    assert got.flags.writeable
    assert got.shape == operator.out.shape
    assert got.dtype == np.float32


def packed(values: Array) -> Array:
    """The same values at odd addresses, with strides that are no multiple of their size."""
    record = np.dtype([("pad", np.uint8), ("value", values.dtype)])
    table = np.zeros(values.shape, record)
    table["value"] = values
    field = table["value"]
    assert not field.flags.aligned
    assert field.strides[-1] % values.itemsize
    return field


@pytest.mark.parametrize(("operator", "name"), TENSORS, ids=lambda v: getattr(v, "name", v))
def test_an_unaligned_input_is_copied(operator: Operator, name: str) -> None:
    """Fields of packed records work, and are not written to."""
    field = packed(operator.arrays[name])
    before = field.base.tobytes() if field.base is not None else b""
    assert operator(**{name: field}).tobytes() == operator().tobytes()
    assert field.base is not None
    assert field.base.tobytes() == before


def test_an_unaligned_input_without_memory_for_its_copy() -> None:
    """Python's own error, which says what was to be copied."""
    raw = np.zeros(8, np.uint8)[1:5].view(np.float32)
    endless = np.broadcast_to(raw, (2**44,))
    message = r"no memory for a copy .* data type FLOAT, of shape \[17592186044416\]"
    with pytest.raises(MemoryError, match=message):
        softnpu.selu_backward(endless, endless)


def test_an_aligned_field_with_odd_strides_is_copied() -> None:
    """The first element is aligned, the others are not."""
    raw = np.zeros(12 * 5 + 4, np.uint8)
    x = np.lib.stride_tricks.as_strided(raw[:4].view(np.float32), (12,), (5,))
    if x.flags.writeable:
        x[...] = np.arange(-6, 6)
    got = softnpu.selu_backward(np.ones(12, np.float32), x)
    expected = softnpu.selu_backward(np.ones(12, np.float32), np.arange(-6, 6, dtype=np.float32))
    assert np.array_equal(got, expected)


def test_dimensions_of_one_element_may_have_odd_strides() -> None:
    """Their strides are never used; nothing is copied, so such an output works too."""
    base = np.ones((1, 4), np.float32)
    odd = np.lib.stride_tricks.as_strided(base, (1, 4), (3, 4))
    assert softnpu.selu_backward(odd, odd, out=odd) is odd
    assert np.allclose(base, 1.0507, atol=1e-4)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 5)])
def test_empty_arrays_give_empty_arrays(shape: tuple[int, ...]) -> None:
    """Nothing to compute, and nothing wrong."""
    x = np.empty(shape, np.float32)
    assert softnpu.selu_backward(x, x).shape == shape
    assert softnpu.elu_backward(x, 1, 1, 1, True, x).shape == shape


def test_rank_0_gives_an_array() -> None:
    """Not a scalar, so that the kind does not depend on the rank."""
    x = np.array(2.0, np.float32)
    got = softnpu.elu_backward(x, 1, 3, 1, True, x)
    assert isinstance(got, np.ndarray)
    assert got.shape == ()
    assert got == 6


def test_a_numpy_scalar_is_an_array_of_rank_0() -> None:
    """The gradient of a loss with reduction often is one."""
    x = np.array([3.0, -3.0], np.float32)
    got = softnpu.smooth_l1_loss_backward(np.float32(2), x, np.zeros_like(x), "sum", 1)
    assert got.tolist() == [2.0, -2.0]


def test_ndhwc_takes_both_orders_of_input_size() -> None:
    """N and C of grad_out tell which of the documented orders is meant."""
    x = UPSAMPLE.arrays["grad_out"]
    expected = np.moveaxis(UPSAMPLE(), 1, -1)
    last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    for size in [(1, 1, 2, 3, 2), (1, 2, 1, 2, 3)]:
        got = softnpu.upsample_nearest3d_backward(last, (2, 4, 6), size, format="NDHWC")
        assert got.shape == (1, 1, 2, 3, 2)
        assert got.flags.c_contiguous
        assert np.array_equal(got, expected)


def test_ndhwc_order_that_fits_both_is_the_arrays_own() -> None:
    """As documented; an output passed as out decides otherwise."""
    x = np.ones((1, 2, 2, 4, 2), np.float32)
    size = (1, 2, 1, 2, 2)
    own = softnpu.upsample_nearest3d_backward(x, (2, 2, 4), size, format="NDHWC")
    assert own.shape == size
    out = np.empty((1, 1, 2, 2, 2), np.float32)
    other = softnpu.upsample_nearest3d_backward(x, (2, 2, 4), size, format="NDHWC", out=out)
    assert other is out


def test_large_indices_arrays_of_both_byte_widths_of_long_are_int64() -> None:
    """NumPy has two 64-bit integer types; both are INT64."""
    for kind in ("l", "q"):
        indices = UNPOOL.arrays["indices"].astype(kind)
        assert UNPOOL(indices=indices).tobytes() == UNPOOL().tobytes()
