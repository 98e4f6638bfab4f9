# SPDX-License-Identifier: Apache-2.0
"""Operands for the kernels, in every layout, and how far a result is from the core's."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import torch
from torch import Tensor

from softnpu.judging import ulp
from tests.support.specials import BFLOAT16, FLOAT16, FLOAT32, specials

FLOATS = {torch.float32: FLOAT32, torch.float16: FLOAT16, torch.bfloat16: BFLOAT16}


def _offset(tensor: Tensor) -> Tensor:
    """Lay a tensor out behind other elements."""
    room = tensor.new_zeros(tensor.numel() + 3)
    return room[3:].view(tensor.shape).copy_(tensor)


def _sliced(tensor: Tensor) -> Tensor:
    """Leave a gap behind every element."""
    room = tensor.new_zeros((*tensor.shape, 2))
    return room[..., 0].copy_(tensor)


def _reversed(tensor: Tensor) -> Tensor:
    """Lay the dimensions out in the reverse order."""
    order = tuple(reversed(range(tensor.dim())))
    return tensor.permute(order).contiguous().permute(order)


LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "contiguous": Tensor.contiguous,
    "reversed": _reversed,
    "sliced": _sliced,
    "offset": _offset,
    "channels last": lambda t: t.movedim(1, -1).contiguous().movedim(-1, 1) if t.dim() > 2 else t,
}


def values(*shape: int, dtype: torch.dtype, seed: int = 0) -> Tensor:
    """Draw ordinary values of many magnitudes, of either sign."""
    generator = np.random.default_rng(seed)
    drawn = generator.normal(size=shape) * 10.0 ** generator.uniform(-6, 2, size=shape)
    return torch.from_numpy(np.asarray(drawn)).to(dtype)


def with_specials(*shape: int, dtype: torch.dtype, seed: int = 0) -> Tensor:
    """Draw values, and put the special ones of the type at random places."""
    drawn = values(*shape, dtype=dtype, seed=seed)
    special = torch.from_numpy(specials(FLOATS[dtype]).astype(np.float64)).to(dtype)
    generator = torch.Generator().manual_seed(seed)
    places = torch.randperm(drawn.numel(), generator=generator)[: len(special)]
    drawn.view(-1)[places] = special[: len(places)]
    return drawn


def to_numpy(tensor: Tensor) -> np.ndarray:
    """Give a tensor's elements; NumPy knows bfloat16 by another library's type."""
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.contiguous().numpy()


def check_close(computed: Tensor, expected: Tensor) -> None:
    """Compare with the core's result: at most 3 ULP apart for FLOAT, one for 16 bits."""
    assert computed.dtype == expected.dtype
    assert computed.shape == expected.shape
    if computed.is_complex():
        computed, expected = torch.view_as_real(computed), torch.view_as_real(expected)
    if computed.dtype == torch.float64:  # of elementwise operators: FLOAT numbers
        computed, expected = computed.float(), expected.float()
    steps = ulp.between(to_numpy(computed), to_numpy(expected), zero_sign=True)
    assert steps.max(initial=0) <= (3 if computed.element_size() == 4 else 1)


def check_bits(computed: Tensor, expected: Tensor) -> None:
    """Compare bit by bit."""
    assert computed.dtype == expected.dtype
    assert np.array_equal(ulp.bits(to_numpy(computed)), ulp.bits(to_numpy(expected)))
