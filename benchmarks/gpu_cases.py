# SPDX-License-Identifier: Apache-2.0
"""What `gpu.py` times: each operator of softnpu beside PyTorch's of the same name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten
DEVICE = "cuda"
ELEMENTS = 2**28
SMALL = {2.0: (4, 64, 32, 64, 64), 1.5: (4, 64, 20, 40, 40), 3.3: (4, 64, 20, 40, 40)}
UNPOOLED = (4, 32, 64, 128, 128)
ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805
PLAIN, LAST = torch.contiguous_format, torch.channels_last_3d


@dataclass
class Case:
    """Calls that do the same, and the bytes that they must read and write."""

    label: str
    aim: str
    bytes: int
    sides: dict[str, Callable[[], Any]]


def timed_cases(kernels: Any) -> Iterator[Callable[[], Case]]:
    """Make the cases one by one, as each takes much of the memory."""
    yield copy
    for dtype in (torch.float32, torch.bfloat16):
        for make in (elu, elu_backward, selu, selu_backward, loss, loss_mean, loss_backward):
            yield partial(make, kernels, dtype)
        for ratio, aim in (
            ((2.0, 0.93 if dtype == torch.float32 else 0.85)),
            (1.5, None),
            (3.3, None),
        ):
            yield partial(upsample_backward, kernels, dtype, PLAIN, ratio, aim)
        yield partial(upsample_backward, kernels, dtype, LAST, 2.0, 0.85)
        yield partial(upsample, kernels, dtype, PLAIN)
        yield partial(upsample, kernels, dtype, LAST)
    for dtype in (torch.float32, torch.float16):
        yield partial(unpool, kernels, dtype)
        yield partial(unpool_backward, kernels, dtype)


def draw(*shape: int, dtype: torch.dtype) -> Tensor:
    """Draw on the GPU."""
    return torch.randn(shape, device=DEVICE).to(dtype)


def size_of(*tensors: Tensor) -> int:
    """Count bytes."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def case(name: str, dtype: torch.dtype, aim: str, moved: int, ours: Any, theirs: Any) -> Case:
    """Make a case of two sides."""
    label = f"{name}, {str(dtype).removeprefix('torch.')}"
    return Case(label, aim, moved, {"softnpu": ours, "torch": theirs})


def copy() -> Case:
    """Make what all others are measured by."""
    x = draw(ELEMENTS, dtype=torch.float32)
    out = torch.empty_like(x)
    return Case("copy, float32", "", size_of(x, out), {"copy": lambda: out.copy_(x)})


def elementwise(name: str, dtype: torch.dtype, ours: Any, theirs: Any, operands: int) -> Case:
    """Both sides write to the same result."""
    tensors = [draw(ELEMENTS, dtype=dtype) for _ in range(operands)]
    out = torch.empty_like(tensors[0])
    calls = partial(ours, *tensors, out), partial(theirs, *tensors, out)
    return case(name, dtype, ">= 0.95", size_of(*tensors, out), *calls)


def elu(kernels: Any, dtype: torch.dtype) -> Case:
    """With alpha 1."""
    return elementwise(
        "elu",
        dtype,
        lambda x, out: kernels.elu(x, 1.0, 1.0, 1.0, out),
        lambda x, out: aten.elu.out(x, 1.0, 1.0, 1.0, out=out),
        1,
    )


def elu_backward(kernels: Any, dtype: torch.dtype) -> Case:
    """From the input, which takes an exponential."""
    return elementwise(
        "elu_backward",
        dtype,
        lambda grad, x, out: kernels.elu_backward(grad, 1.0, 1.0, 1.0, False, x, out),
        lambda g, x, out: aten.elu_backward.grad_input(g, 1.0, 1.0, 1.0, False, x, grad_input=out),
        2,
    )


def selu(kernels: Any, dtype: torch.dtype) -> Case:
    """PyTorch's is elu with other numbers."""
    return elementwise(
        "selu",
        dtype,
        kernels.selu,
        lambda x, out: aten.elu.out(x, ALPHA, SCALE, 1.0, out=out),
        1,
    )


def selu_backward(kernels: Any, dtype: torch.dtype) -> Case:
    """From the result."""
    return elementwise(
        "selu_backward",
        dtype,
        kernels.selu_backward,
        lambda g, y, out: aten.elu_backward.grad_input(
            g, ALPHA, SCALE, 1.0, True, y, grad_input=out
        ),
        2,
    )


def loss(kernels: Any, dtype: torch.dtype) -> Case:
    """Without a reduction."""
    return elementwise(
        "smooth_l1_loss none",
        dtype,
        lambda x, target, out: kernels.smooth_l1_loss(x, target, 0, 1.0, out),
        lambda x, target, out: aten.smooth_l1_loss.out(x, target, 0, 1.0, out=out),
        2,
    )


def loss_mean(kernels: Any, dtype: torch.dtype) -> Case:
    """Reduce both operands to one number."""
    x, target = (draw(ELEMENTS, dtype=dtype) for _ in range(2))
    out = torch.empty((), dtype=dtype, device=DEVICE)
    ours = partial(kernels.smooth_l1_loss, x, target, 1, 1.0, out)
    theirs = partial(aten.smooth_l1_loss, x, target, 1, 1.0)
    return case("smooth_l1_loss mean", dtype, ">= torch", size_of(x, target), ours, theirs)


def loss_backward(kernels: Any, dtype: torch.dtype) -> Case:
    """With a gradient for every element."""
    return elementwise(
        "smooth_l1_loss_backward",
        dtype,
        lambda *tensors: kernels.smooth_l1_loss_backward(*tensors[:3], 0, 1.0, tensors[3]),
        lambda *tensors: aten.smooth_l1_loss_backward.grad_input(
            *tensors[:3], 0, 1.0, grad_input=tensors[3]
        ),
        3,
    )


def upsampled(ratio: float) -> tuple[tuple[int, ...], list[int]]:
    """Sizes of N, C, D, H, W before, and of D, H, W after upsampling."""
    small = SMALL[ratio]
    return small, [int(size * ratio) for size in small[2:]]


def upsample_backward(
    kernels: Any, dtype: torch.dtype, form: torch.memory_format, ratio: float, aim: float | None
) -> Case:
    """Let PyTorch's allocate its result: into a given one, channels last, it writes wrongly."""
    small, large = upsampled(ratio)
    grad = draw(*small[:2], *large, dtype=dtype).to(memory_format=form)
    out = torch.empty(small, dtype=dtype, device=DEVICE).to(memory_format=form)
    kind = " channels last" if form == LAST else ""
    none = None, None, None
    return case(
        f"upsample_nearest3d_backward x{ratio:g}{kind}",
        dtype,
        f">= {aim}" if aim else ">= 0.95 torch",
        size_of(grad, out),
        lambda: kernels.upsample_nearest3d_backward(grad, large, small, *none, "NCDHW", out),
        lambda: aten.upsample_nearest3d_backward(grad, large, small, *none),
    )


def upsample(kernels: Any, dtype: torch.dtype, form: torch.memory_format) -> Case:
    """Whole copies in every direction."""
    small, large = upsampled(2)
    x = draw(*small, dtype=dtype).to(memory_format=form)
    out = torch.empty(*small[:2], *large, dtype=dtype, device=DEVICE).to(memory_format=form)
    kind = " channels last" if form == LAST else ""
    none = None, None, None
    return case(
        f"upsample_nearest3d x2{kind}",
        dtype,
        ">= 0.85",
        size_of(x, out),
        lambda: kernels.upsample_nearest3d(x, large, *none, "NCDHW", out),
        lambda: aten.upsample_nearest3d(x, large, *none),
    )


def pooled(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Operands of unpooling 8:1: values, their indices, and a gradient."""
    grad = draw(*UNPOOLED, dtype=dtype)
    values, indices = torch.nn.functional.max_pool3d(grad.float(), 2, return_indices=True)
    return values.to(dtype), indices, grad


def unpool(kernels: Any, dtype: torch.dtype) -> Case:
    """Scatter."""
    x, indices, grad = pooled(dtype)
    out = torch.empty_like(grad)
    size, stride, padding = list(grad.shape[2:]), [2, 2, 2], [0, 0, 0]
    return case(
        "max_unpool3d 8:1",
        dtype,
        ">= 0.95 torch",
        size_of(x, indices, out),
        lambda: kernels.max_unpool3d(x, indices, size, stride, padding, out),
        lambda: aten.max_unpool3d(x, indices, size, stride, padding),
    )


def unpool_backward(kernels: Any, dtype: torch.dtype) -> Case:
    """Gather; PyTorch has torch.gather, but no operator for this."""
    x, indices, grad = pooled(dtype)
    out = torch.empty_like(x)
    size, stride, padding = list(grad.shape[2:]), [2, 2, 2], [0, 0, 0]
    flat, places = grad.flatten(2), indices.flatten(2)
    return case(
        "max_unpool3d_backward 8:1",
        dtype,
        ">= 0.95 torch",
        size_of(x, indices, out),
        lambda: kernels.max_unpool3d_backward(grad, x, indices, size, stride, padding, out),
        lambda: torch.gather(flat, 2, places),
    )
