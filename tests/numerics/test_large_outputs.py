# SPDX-License-Identifier: Apache-2.0
"""Outputs larger than the caches are written in another way, with the same bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import softnpu

GUARD = 9
BYTES = 20 << 20  # above the size from which stores go past the caches


Array = npt.NDArray[Any]


def bits(array: Array) -> Array:
    """The array's bytes as integers."""
    return array.view(f"u{array.itemsize}")


def check_pieces(
    call: Callable[..., Array], inputs: Sequence[Array], out: Array, step: int = 100_003
) -> None:
    """`out` has the bits of small calls. An input of one element belongs to all of them."""
    for at in range(0, len(out), step):
        here = slice(at, at + step)
        piece = call(*(values if len(values) == 1 else values[here] for values in inputs))
        np.testing.assert_array_equal(bits(out[here]), bits(piece))


def check_call(call: Callable[..., Array], inputs: Sequence[Array], offset: int) -> None:
    """A large call has the bits of small ones at `offset` of its memory, with nothing beside."""
    size, dtype = len(inputs[-1]), inputs[-1].dtype
    memory = np.full(size + offset + 40, GUARD, dtype)
    out = memory[offset : offset + size]
    call(*inputs, out=out)
    check_pieces(call, inputs, out)
    assert (memory[:offset] == GUARD).all()
    assert (memory[offset + size :] == GUARD).all()


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.int8])
def test_large_outputs_are_what_their_pieces_are(dtype: type, offset: int) -> None:
    """At any alignment: the same bits as in small calls, and nothing beside the output."""
    n = BYTES // np.dtype(dtype).itemsize + 37
    rng = np.random.default_rng(offset)
    # Integers use a part of their type's range.
    scale = np.float32(1 if np.dtype(dtype).kind != "i" else 20)
    grad, y = ((scale * rng.standard_normal(n, dtype=np.float32)).astype(dtype) for _ in range(2))
    check_call(softnpu.selu_backward, [grad, y], offset)


@pytest.mark.parametrize("width", [16, 37, 1001, 4096])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int32, np.int8])
def test_rows_of_large_outputs_may_lie_apart(dtype: type, width: int) -> None:
    """Dense rows at any alignment: the bits of their pieces, and nothing between them."""
    rows = BYTES // (3 * width)
    values = 20 * np.random.default_rng(2).standard_normal(100_003, dtype=np.float32)
    values[::977] = 0 if np.dtype(dtype).kind == "i" else np.nan

    def apart(gap: int, shift: int) -> Array:
        memory = np.resize(np.roll(values, gap), rows * (width + gap)).astype(dtype)
        return memory.reshape(rows, width + gap)[:, shift : shift + width]

    grad, y = apart(7, 3), apart(5, 1)
    memory = np.full((rows, width + 9), GUARD, dtype)
    out = memory[:, 5 : 5 + width]
    softnpu.selu_backward(grad, y, out=out)
    check_pieces(softnpu.selu_backward, [grad, y], out, step=max(1, 50_000 // width))
    assert (memory[:, :5] == GUARD).all()
    assert (memory[:, 5 + width :] == GUARD).all()


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_rare_elements_of_large_outputs(dtype: type, repeated: bool, offset: int) -> None:
    """Differences near 0 and a factor of two parts, over one gradOut or as many: the same bits."""
    n = BYTES // np.dtype(dtype).itemsize + 37
    rng = np.random.default_rng(17)
    target = rng.standard_normal(n, dtype=np.float32).astype(dtype)
    x = np.roll(target, 1)
    x[::5003] = np.float32(3e-38)
    target[::5003] = np.float32(2e-38)
    x[::70_001] = np.nan
    grad = np.full(1, 0.7, dtype) if repeated else np.roll(target, 2)

    def call(grad: Array, x: Array, target: Array, out: Array | None = None) -> Array:
        return softnpu.smooth_l1_loss_backward(grad, x, target, 2, 3.0, out=out)

    check_call(call, [grad, x, target], offset)


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_rare_elements_of_large_exponentials(dtype: type, repeated: bool, offset: int) -> None:
    """Exponentials among the subnormals, infinities and NaN, here and there: the same bits."""
    n = BYTES // np.dtype(dtype).itemsize + 37
    values = 3 * np.random.default_rng(23).standard_normal(n, dtype=np.float32)
    for step, value in (5003, -95.0), (70_001, np.nan), (90_001, -np.inf):
        values[::step] = value
    x = values.astype(dtype)
    grad = np.broadcast_to(np.array(0.7, dtype), n) if repeated else np.roll(x, 2)

    def call(grad: Array, x: Array, out: Array | None = None) -> Array:
        return softnpu.elu_backward(grad, 1, 1, 1, False, x, out=out)

    check_call(call, [grad, x], offset)


def test_a_large_output_may_be_wider_sliced_or_in_place() -> None:
    """DOUBLE from FLOAT, every other column, and the memory of an input."""
    rng = np.random.default_rng(5)
    grad, x = (rng.standard_normal((1500, 3001), dtype=np.float32) for _ in range(2))
    expect = softnpu.elu_backward(grad, 1, 1, 1, False, x)
    wide = np.empty(grad.shape)
    np.testing.assert_array_equal(softnpu.elu_backward(grad, 1, 1, 1, False, x, out=wide), expect)
    sliced = np.zeros((1500, 6002), np.float32)
    softnpu.elu_backward(grad, 1, 1, 1, False, x, out=sliced[:, ::2])
    np.testing.assert_array_equal(sliced[:, ::2], expect)
    assert not sliced[:, 1::2].any()
    softnpu.elu_backward(grad, 1, 1, 1, False, x, out=x)
    np.testing.assert_array_equal(x, expect)


@pytest.mark.parametrize(
    "kinds",
    [
        (np.float32, np.float32),
        (np.float16, np.float16),
        (ml_dtypes.bfloat16, np.complex128),
        (np.int32, np.int32),
    ],
    ids=str,
)
@pytest.mark.parametrize("turned", [(0,), (1,), (0, 1)], ids=str)
def test_large_inputs_may_be_transposed(kinds: tuple[type, type], turned: tuple[int, ...]) -> None:
    """Arrays in memory are turned around by larger tiles: the bits of their contiguous copies."""
    dtype, target = kinds
    rng = np.random.default_rng(3)
    plain = [(100 * rng.standard_normal((2501, 2309))).astype(dtype) for _ in range(2)]
    moved = [v.T.copy().T if i in turned else v for i, v in enumerate(plain)]
    expected, out = np.empty(plain[0].shape, target), np.empty(plain[0].shape, target)
    if np.dtype(target).kind == "c":
        softnpu.elu_backward(plain[0], 1.0, 1.0, 1.0, True, plain[1], out=expected)
        softnpu.elu_backward(moved[0], 1.0, 1.0, 1.0, True, moved[1], out=out)
    else:
        softnpu.selu_backward(plain[0], plain[1], out=expected)
        softnpu.selu_backward(moved[0], moved[1], out=out)
    assert np.array_equal(out.view(np.uint8), expected.view(np.uint8))


# Shapes whose inputs lie in the order of the axes given, and so have dense columns.
COLUMNS = {
    "in a cache": ((303, 1037), (1, 0)),
    "in a cache, sharing pages": ((2, 45, 1003), (0, 2, 1)),
    "on pages of their own": ((2411, 2393), (1, 0)),
    "sharing pages": ((3, 45, 42_001), (0, 2, 1)),
    "of narrow tiles": ((130_003, 43), (1, 0)),
    "whole pages apart": ((2048, 2811), (1, 0)),
}


@pytest.mark.parametrize("turned", [(1,), (0, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("columns", COLUMNS)
def test_inputs_with_dense_columns(columns: str, dtype: type, turned: tuple[int, ...]) -> None:
    """Whatever tiles they are cut into: the bits of contiguous inputs, at odd addresses, too."""
    shape, order = COLUMNS[columns]
    values = 3 * np.random.default_rng(11).standard_normal(100_003, dtype=np.float32)
    values[::977] = np.nan
    size = int(np.prod(shape))
    plain = [np.resize(np.roll(values, i), size).astype(dtype).reshape(shape) for i in range(3)]
    plain[2] = np.broadcast_to(plain[2][..., :1], shape) if 2 not in turned else plain[2]
    moved = list(plain)
    for i in turned:
        stored = np.empty(size + 1, dtype)[1:].reshape([shape[axis] for axis in order])
        moved[i] = stored.transpose(np.argsort(order))
        moved[i][...] = plain[i]
    memory = np.full(size + 14, GUARD, dtype)
    out = memory[7:-7].reshape(shape)
    expected = softnpu.smooth_l1_loss_backward(*plain, "none", 0.7)
    softnpu.smooth_l1_loss_backward(*moved, "none", 0.7, out=out)
    assert np.array_equal(bits(out), bits(expected))
    assert (memory[:7] == GUARD).all()
    assert (memory[-7:] == GUARD).all()
