# SPDX-License-Identifier: Apache-2.0
"""Layouts of the hardware: softnpu has none but the plain one."""

from __future__ import annotations

import torch
from torch import Tensor

from softnpu.torch.npu.fused.calls import fused

ND = 2


@fused
def npu_format_cast(self: Tensor, acl_format: int, **_options: object) -> Tensor:
    """Give the tensor as it is: its elements are the same in all formats."""
    return self


@fused
def get_npu_format(self: Tensor) -> int:
    """Give 2, the plain format ND."""
    return ND


@fused
def npu_dtype_cast(self: Tensor, dtype: torch.dtype) -> Tensor:
    """Convert to another type."""
    return self.to(dtype)
