# SPDX-License-Identifier: Apache-2.0
"""Launches kernels, and views values that are only moved as integers."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

# For every launch. Products and sums are not fused, so that bits do not depend on how the kernel of
# a layout was compiled.
OPTIONS: dict[str, Any] = {"enable_fp_fusion": False}

_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def on_device_of(tensor: Tensor) -> AbstractContextManager[Any]:
    """Launch on the tensor's device and its current stream."""
    return torch.cuda.device(tensor.device) if tensor.is_cuda else nullcontext()


def as_bits(tensor: Tensor) -> Tensor:
    """View elements as integers of their size, so that moving them keeps every bit."""
    return tensor.view(_INTEGERS[tensor.element_size()])
