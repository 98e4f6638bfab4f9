# SPDX-License-Identifier: Apache-2.0
"""What a call costs: 16 elements from Python and through the C API; and results that are made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import softnpu
from softnpu.bench.arrays import Arrays, to_numpy
from softnpu.bench.cases import case as groups
from softnpu.bench.cases.case import Case, Prepared
from softnpu.bench.cases.elementwise import (
    ELU,
    ELU_Y,
    SELU,
    SMOOTH_L1,
    inputs_of,
    softnpu_call,
    torch_call,
    uniform,
)
from softnpu.bench.cases.upsample import shaped

UPSAMPLE = ("upsample_nearest3d_backward", "x2")
UNPOOL = ("max_unpool3d_backward", "pooling")
# In the order of native/c_api_call.cpp.
OPERATORS = (ELU, ELU_Y, SELU, SMOOTH_L1, UPSAMPLE, UNPOOL)
WAYS = ("numpy", "torch", "c-api")

SQUARE = (4, 4)
GRAD = (1, 1, 2, 2, 4)
UPSAMPLED = (1, 1, 1, 1, 2)
UNPOOLED = (1, 1, 4, 4, 8)
FIRST = [[[[[0, 2, 4, 6], [16, 18, 20, 22]], [[64, 66, 68, 70], [80, 82, 84, 86]]]]]


@dataclass(frozen=True)
class SmallCall:
    """A call on 16 elements, made in one of the ways."""

    operator: tuple[str, str]
    way: str

    def prepare(self, arrays: Arrays) -> Prepared:
        """Bind softnpu's side in its way, and PyTorch's own on tensors of the same memory."""
        inputs, out = self._arrays(arrays)
        peer = None if arrays.torch is None else self._peer(arrays.torch, inputs, out)
        if self.way == "c-api":
            from softnpu.bench.native import CApiCall

            result = np.empty(out.shape, np.float32)
            seen = [to_numpy(one) for one in inputs]
            call = CApiCall(OPERATORS.index(self.operator), seen, result)
            return Prepared(call, peer, softnpu_timed=call.timed)
        if self.way == "numpy":
            inputs, out = [to_numpy(one) for one in inputs], to_numpy(out)
        return Prepared(self._ours(inputs, out), peer, out)

    def case(self) -> Case:
        """Name it."""
        return Case(
            group=groups.CALL,
            operator=self.operator[0],
            variant=self.operator[1],
            dtype="float32",
            layout=self.way,
            size="16",
            elements=16,
            bytes=0,
            prepare=self.prepare,
            needs_torch=self.way == "torch",
        )

    def _arrays(self, arrays: Arrays) -> tuple[list[Any], Any]:
        if self.operator == UPSAMPLE:
            return [arrays.values(GRAD, "float32", 1)], arrays.empty(UPSAMPLED, "float32")
        if self.operator == UNPOOL:
            grad, data = (arrays.values(shape, "float32", 1) for shape in (UNPOOLED, GRAD))
            indices = arrays.constant(np.array(FIRST, np.int64))
            return [grad, data, indices], arrays.empty(GRAD, "float32")
        count = inputs_of(self.operator)
        inputs = [arrays.values(SQUARE, "float32", seed) for seed in range(count)]
        return inputs, arrays.empty(SQUARE, "float32")

    def _ours(self, inputs: list[Any], out: Any) -> Any:
        if self.operator == UPSAMPLE:
            upsample: Any = softnpu.upsample_nearest3d_backward
            return partial(upsample, *inputs, GRAD[2:], UPSAMPLED, out=out)
        if self.operator == UNPOOL:
            unpool: Any = softnpu.max_unpool3d_backward
            return partial(unpool, *inputs, UNPOOLED[2:], (2, 2, 2), (0, 0, 0), out=out)
        return partial(softnpu_call(self.operator, inputs), out=out)

    def _peer(self, torch: Any, inputs: list[Any], out: Any) -> Any:
        aten = torch.ops.aten
        if self.operator == UPSAMPLE:
            function = aten.upsample_nearest3d_backward.grad_input
            return partial(function, *inputs, list(GRAD[2:]), list(UPSAMPLED), grad_input=out)
        if self.operator == UNPOOL:
            grad, _, indices = (one.view(1, 1, -1) for one in inputs)
            return partial(aten.gather.out, grad, 2, indices, out=out.view(1, 1, -1))
        return partial(torch_call(torch, "grad_input", self.operator, inputs), grad_input=out)


@dataclass(frozen=True)
class Allocating:
    """A call without out: both sides make their result, and drop it."""

    operator: tuple[str, str]
    dtype: str
    size: str

    def prepare(self, arrays: Arrays) -> Prepared:
        """Make the inputs alone."""
        given = self._given()
        inputs = [
            arrays.values(one.shape, one.dtype, seed) for seed, one in enumerate(given.inputs)
        ]
        peer = None
        if arrays.torch is not None:
            peer = torch_call(arrays.torch, "default", self.operator, inputs)
        return Prepared(softnpu_call(self.operator, inputs), peer)

    def case(self) -> Case:
        """Name it."""
        given = self._given()
        return Case(
            group=groups.ALLOCATING,
            operator=self.operator[0],
            variant=self.operator[1],
            dtype=self.dtype,
            layout="allocating",
            size=self.size,
            elements=math.prod(given.out.shape),
            bytes=sum(one.bytes for one in (*given.inputs, given.out)),
            prepare=self.prepare,
        )

    def _given(self) -> Any:
        layouts = ("contiguous",) * inputs_of(self.operator)
        return uniform(self.operator, self.dtype, self.size, layouts)


def cases() -> Iterator[Case]:
    """Results of 32 MB and more; then the small calls."""
    for dtype, sizes in (("float32", ("8M", "16M", "64M")), ("bfloat16", ("16M", "64M"))):
        for operator in (ELU, SELU, SMOOTH_L1):
            for size in sizes:
                yield Allocating(operator, dtype, size).case()
    yield shaped("x1,2,2", "64M", "float32").allocating_case("x1,2,2", "64M")
    for operator in OPERATORS:
        for way in WAYS:
            yield SmallCall(operator, way).case()
