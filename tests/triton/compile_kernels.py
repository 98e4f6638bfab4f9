# SPDX-License-Identifier: Apache-2.0
"""Compiles every kernel for a GPU that need not be there; prints its memory instructions."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import JITFunction, driver

import softnpu.triton as gpu

FLOATS = (torch.float32, torch.float16, torch.bfloat16)
found: dict[str, list[str]] = {}


class AbsentGpu:
    """What a launch asks of the driver before it starts a kernel."""

    def get_current_device(self) -> int:
        """Number the only device."""
        return 0

    def get_current_stream(self, _device: int) -> int:
        """Use the default one."""
        return 0

    def get_current_target(self) -> GPUTarget:
        """Name the architecture."""
        return GPUTarget("cuda", int(sys.argv[1]), 32)


@contextmanager
def kernels_of(label: str) -> Iterator[None]:
    """Compile what is launched meanwhile, instead of launching it."""
    run = JITFunction.run

    def compile_only(self: Any, *arguments: Any, **options: Any) -> Any:
        options["warmup"] = True
        kernel = run(self, *arguments, **options)
        found.setdefault(label, []).extend(
            re.findall(r"(?:ld|st)\.global[.\w]*", kernel.asm["ptx"])
        )
        return kernel

    JITFunction.run = compile_only
    try:
        yield
    finally:
        JITFunction.run = run


def compile_elementwise(dtype: torch.dtype) -> None:
    """Contiguous operands, transposed ones, and sums."""
    x = torch.empty(64, 64, dtype=dtype)
    for kind, other in (("contiguous", x), ("transposed", x.t())):
        label = f"{kind} {dtype}"
        with kernels_of(f"elu {label}"):
            gpu.elu(other, 1.5, 1.0, 1.0, x)
        with kernels_of(f"elu_backward {label}"):
            gpu.elu_backward(other, 1.5, 1.0, 1.0, False, x, x)
            gpu.elu_backward(other, 0.3, 1.7, 0.5, True, x, x)
        with kernels_of(f"selu {label}"):
            gpu.selu(other, x)
        with kernels_of(f"selu_backward {label}"):
            gpu.selu_backward(other, x, x)
        with kernels_of(f"smooth_l1_loss_backward {label}"):
            gpu.smooth_l1_loss_backward(x, other, x, 1, 0.5, x)
        with kernels_of(f"smooth_l1_loss {label}"):
            gpu.smooth_l1_loss(x, other, 0, 0.5, x)
    with kernels_of(f"smooth_l1_loss sum {dtype}"):
        gpu.smooth_l1_loss(x, x, 2, 0.5, x[0, 0])


def compile_upsampling(dtype: torch.dtype) -> None:
    """Whole ratios and others, rows and channels last."""
    for form in (torch.contiguous_format, torch.channels_last_3d):
        small = torch.empty(1, 16, 4, 4, 32, dtype=dtype).to(memory_format=form)
        for size in ((8, 8, 64), (6, 6, 48), (4, 4, 640)):
            large = torch.empty(1, 16, *size, dtype=dtype).to(memory_format=form)
            scales = None, None, None
            with kernels_of(f"upsample_nearest3d {form} {size} {dtype}"):
                gpu.upsample_nearest3d(small, size, *scales, "NCDHW", large)
            with kernels_of(f"upsample_nearest3d_backward {form} {size} {dtype}"):
                arguments = large, size, small.shape, *scales, "NCDHW"
                gpu.upsample_nearest3d_backward(*arguments, small)


def compile_unpooling(dtype: torch.dtype) -> None:
    """Both types of indices that the forward function takes."""
    small, large = (torch.empty(2, 8, n, n, n, dtype=dtype) for n in (4, 8))
    rest = (8, 8, 8), (2, 2, 2), (0, 0, 0)
    with gpu.deferred_index_checks():
        for index_type in (torch.int64, torch.int32):
            indices = torch.zeros(small.shape, dtype=index_type)
            with kernels_of(f"max_unpool3d {dtype}"):
                gpu.max_unpool3d(small, indices, *rest, large)
        with kernels_of(f"max_unpool3d_backward {dtype}"):
            gpu.max_unpool3d_backward(large, small, indices.long(), *rest, small)


if __name__ == "__main__":
    driver.set_active(AbsentGpu())
    for dtype in FLOATS:
        compile_elementwise(dtype)
        compile_upsampling(dtype)
    compile_upsampling(torch.float64)
    for dtype in (torch.float32, torch.int8, torch.int64):
        compile_unpooling(dtype)
    with kernels_of("selu torch.int32"):
        gpu.selu(torch.empty(64, dtype=torch.int32), torch.empty(64, dtype=torch.int32))
    print(json.dumps(found))
