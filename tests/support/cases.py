# SPDX-License-Identifier: Apache-2.0
"""Calls of every operator with every data type on fixed inputs, for tests that compare runs."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import softnpu
from tests.support import specials as sp
from tests.support.laws import Operator
from tests.support.unary import unary_operators

Array = npt.NDArray[Any]
Reduction = Literal["none", "mean", "sum"]

FLAT = {"small": (3, 5, 7), "large": (37, 41, 83)}
# N, C and then D, H, W of the gradient and of the upsampled side
VOLUME = {"small": (2, 3, (2, 3, 5), (5, 6, 9)), "large": (2, 5, (13, 17, 19), (21, 40, 57))}
# More channels than a vector has elements, and ranges of more than two.
WIDE = {"small": (1, 20, (2, 1, 2), (5, 2, 9)), "large": (1, 33, (5, 6, 7), (14, 11, 25))}
MOVED = ("float32", "float16", "float64", "int8", "uint8", "int16", "int32", "int64")
BETA = 1.5


@dataclass(frozen=True)
class Case:
    """One call: its inputs, the type of its result, and whether its formula has an exp."""

    name: str
    call: Operator
    inputs: list[Array]
    result: np.dtype[Any]
    has_exp: bool = False
    strided_output: bool = True


def cases(size: str) -> list[Case]:
    """Return all calls, "small" ones or "large" ones that are worth several threads."""
    return [
        *_elu(FLAT[size]),
        *_elu_forward(FLAT[size]),
        *_selu(FLAT[size]),
        *_selu_forward(FLAT[size]),
        *_smooth_l1(FLAT[size]),
        *_smooth_l1_loss(FLAT[size]),
        *_upsample(*VOLUME[size]),
        *_upsample(*WIDE[size], kind=" wide"),
        *_upsample_forward(*VOLUME[size]),
        *_upsample_forward(*WIDE[size], kind=" wide"),
        *_unpool(*VOLUME[size]),
        *_unpool_forward(*VOLUME[size]),
        *_unary(FLAT[size]),
    ]


def _generator(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def _mixed(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Draw ordinary values, with any bit pattern in every fourth place."""
    values = sp.random_values(rng, shape, dtype)
    if dtype.kind in "iu":
        return values
    return np.where(rng.random(shape) < 0.25, sp.random_bits(rng, shape, dtype), values)


def _with_zeros(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Draw ordinary values, with -0 in most places, so that some sums have only such terms."""
    values = sp.random_values(rng, shape, dtype)
    return np.where(rng.random(shape) < 0.9, np.array(-0.0, dtype), values)


def _unary(shape: tuple[int, ...]) -> Iterator[Case]:
    for one in unary_operators():
        for dtype in one.dtypes:
            name = f"{one.name} {dtype.name}"
            call = getattr(softnpu, one.name)
            yield Case(name, call, [_mixed(_generator(name), shape, dtype)], dtype, has_exp=True)


def _elu(shape: tuple[int, ...]) -> Iterator[Case]:
    for dtype in sp.FLOATING:
        for is_result in (True, False):
            name = f"elu_backward {dtype.name} {'result' if is_result else 'input'}"
            rng = _generator(name)

            def call(*arrays: Array, out: Array | None = None, r: bool = is_result) -> Array:
                g, x = arrays
                return softnpu.elu_backward(g, 1.3, 0.7, 1.1, r, x, out=out)

            inputs = [_mixed(rng, shape, dtype) for _ in range(2)]
            yield Case(name, call, inputs, dtype, has_exp=not is_result)


def _elu_forward(shape: tuple[int, ...]) -> Iterator[Case]:
    for dtype in sp.FLOATING:
        for input_scale in (1.0, 1.1):
            name = f"elu {dtype.name} {input_scale}"

            def call(*arrays: Array, out: Array | None = None, k: float = input_scale) -> Array:
                return softnpu.elu(*arrays, 1.3, 0.7, k, out=out)

            yield Case(name, call, [_mixed(_generator(name), shape, dtype)], dtype, has_exp=True)


def _selu_forward(shape: tuple[int, ...]) -> Iterator[Case]:
    for dtype in (*sp.FLOATING, np.dtype(np.int32), np.dtype(np.int8)):
        name = f"selu {dtype.name}"

        def call(*arrays: Array, out: Array | None = None) -> Array:
            return softnpu.selu(*arrays, out=out)

        yield Case(name, call, [_mixed(_generator(name), shape, dtype)], dtype, has_exp=True)


def _selu(shape: tuple[int, ...]) -> Iterator[Case]:
    for dtype in (*sp.FLOATING, np.dtype(np.int32), np.dtype(np.int8)):
        name = f"selu_backward {dtype.name}"
        rng = _generator(name)

        def call(*arrays: Array, out: Array | None = None) -> Array:
            return softnpu.selu_backward(*arrays, out=out)

        yield Case(name, call, [_mixed(rng, shape, dtype) for _ in range(2)], dtype)


def _smooth_l1(shape: tuple[int, ...]) -> Iterator[Case]:
    mixed = (sp.FLOAT16, sp.BFLOAT16, sp.FLOAT32)
    reductions: tuple[Reduction, ...] = ("none", "mean")
    for kinds in [(dtype,) * 3 for dtype in sp.FLOATING] + [mixed]:
        for reduction in reductions:
            name = f"smooth_l1_loss_backward {','.join(k.name for k in kinds)} {reduction}"
            rng = _generator(name)

            def call(*arrays: Array, out: Array | None = None, r: Reduction = reduction) -> Array:
                g, a, b = arrays
                return softnpu.smooth_l1_loss_backward(g, a, b, r, BETA, out=out)

            result = kinds[0] if len(set(kinds)) == 1 else sp.FLOAT32
            yield Case(name, call, [_mixed(rng, shape, kind) for kind in kinds], result)


def _smooth_l1_loss(shape: tuple[int, ...]) -> Iterator[Case]:
    reductions: tuple[Reduction, ...] = ("none", "mean", "sum")
    for kinds in [(dtype,) * 2 for dtype in sp.FLOATING] + [(sp.FLOAT16, sp.BFLOAT16)]:
        for reduction in reductions:
            name = f"smooth_l1_loss {','.join(k.name for k in kinds)} {reduction}"
            rng = _generator(name)

            def call(*arrays: Array, out: Array | None = None, r: Reduction = reduction) -> Array:
                return softnpu.smooth_l1_loss(*arrays, r, BETA, out=out)

            # Sums of any bits would be NaN or infinite.
            draw = _mixed if reduction == "none" else sp.random_values
            result = kinds[0] if len(set(kinds)) == 1 else sp.FLOAT32
            yield Case(name, call, [draw(rng, shape, kind) for kind in kinds], result)


def _upsample(
    n: int, c: int, inner: tuple[int, ...], outer: tuple[int, ...], kind: str = ""
) -> Iterator[Case]:
    for dtype in (*sp.FLOATING, sp.FLOAT64):
        for layout in ("NCDHW", "NDHWC"):
            name = f"upsample_nearest3d_backward {dtype.name} {layout}{kind}"
            last = layout == "NDHWC"
            shape = (n, *outer, c) if last else (n, c, *outer)
            size = (n, *inner, c) if last else (n, c, *inner)

            def call(
                *arrays: Array,
                out: Array | None = None,
                size: tuple[int, ...] = size,
                layout: str = layout,
            ) -> Array:
                (g,) = arrays
                return softnpu.upsample_nearest3d_backward(g, outer, size, format=layout, out=out)

            grad = _with_zeros(_generator(name), shape, dtype)
            yield Case(name, call, [grad], dtype)


def _upsample_forward(
    n: int, c: int, inner: tuple[int, ...], outer: tuple[int, ...], kind: str = ""
) -> Iterator[Case]:
    for dtype in (*sp.FLOATING, sp.FLOAT64, np.dtype(np.uint8)):
        for layout in ("NCDHW", "NDHWC"):
            name = f"upsample_nearest3d {dtype.name} {layout}{kind}"
            shape = (n, *inner, c) if layout == "NDHWC" else (n, c, *inner)

            def call(*arrays: Array, out: Array | None = None, layout: str = layout) -> Array:
                (x,) = arrays
                return softnpu.upsample_nearest3d(x, outer, format=layout, out=out)

            yield Case(name, call, [sp.random_bits(_generator(name), shape, dtype)], dtype)


def _unpool(n: int, c: int, inner: tuple[int, ...], outer: tuple[int, ...]) -> Iterator[Case]:
    for dtype in map(np.dtype, MOVED):
        name = f"max_unpool3d_backward {dtype.name}"
        rng = _generator(name)
        grad = _mixed(rng, (n, c, *outer), dtype)
        values = _mixed(rng, (n, c, *inner), dtype)
        indices = rng.integers(0, int(np.prod(outer)), values.shape)

        def call(*arrays: Array, out: Array | None = None) -> Array:
            g, s, i = arrays
            ones, zeros = [1, 1, 1], [0, 0, 0]
            return softnpu.max_unpool3d_backward(g, s, i, outer, ones, zeros, out=out)

        yield Case(name, call, [grad, values, indices], dtype, strided_output=False)


def _unpool_forward(
    n: int, c: int, inner: tuple[int, ...], outer: tuple[int, ...]
) -> Iterator[Case]:
    for dtype in map(np.dtype, MOVED):
        name = f"max_unpool3d {dtype.name}"
        rng = _generator(name)
        values = _mixed(rng, (n, c, *inner), dtype)
        indices = rng.integers(0, int(np.prod(outer)), values.shape)

        def call(*arrays: Array, out: Array | None = None) -> Array:
            return softnpu.max_unpool3d(*arrays, outer, [1, 1, 1], [0, 0, 0], out=out)

        places = indices.astype(np.int32) if dtype.itemsize == 2 else indices
        yield Case(name, call, [values, places], dtype)
