# SPDX-License-Identifier: Apache-2.0
"""Every GPU kernel and its float64 definition, on small operands in several layouts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

Check = tuple[str, Tensor, Tensor, float]  # a label, the result, the exact one, ULP allowed
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
LAMBDA, LAMBDA_ALPHA = 1.0507009873554804934193349852946, 1.7580993408473768599402175208123


def checks(kernels: Any, device: str) -> Iterator[Check]:
    """Compute everything once."""
    for dtype in FLOATS:
        yield from elementwise(kernels, device, dtype)
        yield from losses(kernels, device, dtype)
        yield from upsampling(kernels, device, dtype)
    yield from unpooling(kernels, device)


def draw(*shape: int, dtype: torch.dtype, device: str, seed: int) -> Tensor:
    """Draw values of many magnitudes, and some special ones."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=shape) * 10.0 ** generator.uniform(-5, 2, size=shape)
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, -1e-40, -88.5, -104.0]
    values.reshape(-1)[: len(special)] = special
    return torch.from_numpy(values).to(dtype).to(device)


def elementwise(kernels: Any, device: str, dtype: torch.dtype) -> Iterator[Check]:
    """Elu and selu, with a transposed operand."""
    x = draw(70, 61, dtype=dtype, device=device, seed=0)
    grad = draw(61, 70, dtype=dtype, device=device, seed=1).t()
    wide, wide_grad = x.double(), grad.double()
    units = 3 if dtype == torch.float32 else 1
    new = torch.empty_like
    for alpha, scale, factor in ((1.0, 1.0, 1.0), (1.5, 1.25, 0.5)):
        below = alpha * scale * torch.expm1(wide * factor)
        exact = torch.where(wide > 0, scale * wide, below)
        yield "elu", kernels.elu(x, alpha, scale, factor, new(x)), exact, units
        below = factor * alpha * scale * torch.exp(wide * factor)
        for is_result, slope in ((False, below), (True, factor * (wide + alpha * scale))):
            exact = wide_grad * torch.where(wide > 0, scale, slope)
            computed = kernels.elu_backward(grad, alpha, scale, factor, is_result, x, new(x))
            yield "elu_backward", computed, exact, units
    exact = torch.where(wide > 0, LAMBDA * wide, LAMBDA_ALPHA * torch.expm1(wide))
    yield "selu", kernels.selu(x, new(x)), exact, units
    exact = wide_grad * torch.where(wide >= 0, LAMBDA, wide + LAMBDA_ALPHA)
    yield "selu_backward", kernels.selu_backward(grad, x, new(x)), exact, units


def losses(kernels: Any, device: str, dtype: torch.dtype) -> Iterator[Check]:
    """Every reduction, with a target that is broadcast."""
    x = draw(70, 61, dtype=dtype, device=device, seed=2)[1:]
    target = draw(61, dtype=dtype, device=device, seed=3).nan_to_num(0.0, 0.0, 0.0)
    grad, beta = draw(1, 61, dtype=dtype, device=device, seed=4), 0.5
    d = x.double() - target.double()
    loss = torch.where(d.abs() < beta, 0.5 / beta * d * d, d.abs() - 0.5 * beta)
    slope = torch.where(d.abs() < beta, d / beta, d.sign())
    units = 3 if dtype == torch.float32 else 1
    for reduction, exact in enumerate((loss, loss.mean(), loss.sum())):
        out = torch.empty(exact.shape, dtype=dtype, device=device)
        yield (
            "smooth_l1_loss",
            kernels.smooth_l1_loss(x, target, reduction, beta, out),
            exact,
            units,
        )
        norm = 1 / d.numel() if reduction == 1 else 1
        arguments = grad, x, target, reduction, beta, torch.empty_like(x)
        computed = kernels.smooth_l1_loss_backward(*arguments)
        yield "smooth_l1_loss_backward", computed, grad.double() * slope * norm, units


def sources(small: int, large: int, device: str) -> Tensor:
    """Give for each element of the large axis the one of the small axis that it is a copy of."""
    scale = np.float32(large) / np.float32(small)
    starts = np.minimum(np.ceil(np.arange(small + 1, dtype=np.float32) * scale), large)
    found = np.searchsorted(starts[:small], np.arange(large), side="right") - 1
    return torch.from_numpy(found).to(device)


def upsampling(kernels: Any, device: str, dtype: torch.dtype) -> Iterator[Check]:
    """Whole ratios and others, in rows and channels last."""
    units = 3 if dtype == torch.float32 else 1
    none = None, None, None
    for small, large in (((2, 3, 8), (4, 6, 16)), ((4, 4, 6), (6, 6, 9)), ((2, 3, 7), (5, 4, 23))):
        grad = draw(2, 2, *large, dtype=dtype, device=device, seed=5).nan_to_num(0.0, 0.0, 0.0)
        x = draw(2, 2, *small, dtype=dtype, device=device, seed=6)
        exact, copied = grad.double(), x.double()
        for axis, (size, count) in enumerate(zip(small, large, strict=True), 2):
            source = sources(size, count, device)
            shape = list(exact.shape)
            shape[axis] = size
            exact = exact.new_zeros(shape).index_add_(axis, source, exact)
            copied = copied.index_select(axis, source)
        for form in (torch.contiguous_format, torch.channels_last_3d):
            given = grad.to(memory_format=form)
            out = torch.empty_like(x, memory_format=form)
            arguments = given, large, x.shape, *none, "NCDHW", out
            computed = kernels.upsample_nearest3d_backward(*arguments)
            yield f"upsample_nearest3d_backward {form}", computed, exact, units
            out = torch.empty_like(grad, memory_format=form)
            arguments = x.to(memory_format=form), large, *none, "NCDHW", out
            yield f"upsample_nearest3d {form}", kernels.upsample_nearest3d(*arguments), copied, 0


def unpooling(kernels: Any, device: str) -> Iterator[Check]:
    """Repeat indices: the last one wins."""
    shape, size = (2, 3, 2, 3, 4), (4, 5, 6)
    count = math.prod(size)
    generator = torch.Generator().manual_seed(7)
    indices = torch.randint(0, count, shape, generator=generator)
    x = torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)
    grad = torch.arange(6 * count, dtype=torch.float64).reshape(2, 3, *size)
    exact = torch.zeros(6, count, dtype=torch.float64)
    for plane, places in enumerate(indices.reshape(6, -1).tolist()):
        for i, place in enumerate(places):
            exact[plane, place] = x.reshape(6, -1)[plane, i]
    gathered = grad.flatten(-3).gather(-1, indices.flatten(-3)).view(shape)
    rest: Sequence[Any] = (size, (1, 1, 1), (0, 0, 0))
    x, grad, indices = (tensor.to(device) for tensor in (x, grad, indices))
    computed = kernels.max_unpool3d(x, indices, *rest, torch.empty_like(grad))
    yield "max_unpool3d", computed, exact.view(grad.shape).to(device), 0
    computed = kernels.max_unpool3d_backward(grad, x, indices, *rest, torch.empty_like(x))
    yield "max_unpool3d_backward", computed, gathered.to(device), 0
