# SPDX-License-Identifier: Apache-2.0
"""8-bit integers with scales."""

from __future__ import annotations

import torch
from torch import Tensor

from softnpu.torch.npu.fused.calls import fused, refuse, wide

_LARGEST = 127


@fused
def npu_dynamic_quant(
    x: Tensor,
    *,
    smooth_scales: Tensor | None = None,
    group_index: Tensor | None = None,
    dst_type: torch.dtype | None = None,
) -> tuple[Tensor, Tensor]:
    """Round each row to 8-bit integers, by a scale that takes its largest element to 127.

    Returns
    -------
    tuple of Tensor
        The integers, and the scale of each row in float32: their product is the input.
    """
    wanted = None if dst_type in (None, torch.int8) else dst_type
    refuse("npu_dynamic_quant", group_index=group_index, dst_type=wanted)
    values = wide(x) if smooth_scales is None else wide(x) * wide(smooth_scales)
    scale = values.abs().amax(-1, keepdim=True) / _LARGEST
    safe = torch.where(scale == 0, torch.ones_like(scale), scale)
    return (values / safe).round().to(torch.int8), scale.squeeze(-1)


@fused
def npu_quant_matmul(
    x1: Tensor,
    x2: Tensor,
    scale: Tensor,
    *,
    offset: Tensor | None = None,
    pertoken_scale: Tensor | None = None,
    bias: Tensor | None = None,
    output_dtype: torch.dtype | None = None,
    **others: object,
) -> Tensor:
    """Multiply matrices of 8-bit integers, and scale the columns of the product, and its rows."""
    refuse("npu_quant_matmul", **others)
    product = x1.to(torch.int32) @ x2.to(torch.int32)
    if bias is not None and bias.dtype == torch.int32:
        product = product + bias
    if output_dtype == torch.int32:
        return product
    result = product.float() * scale.float()
    if pertoken_scale is not None:
        result = result * pertoken_scale.float().unsqueeze(-1)
    if bias is not None and bias.dtype != torch.int32:
        result = result + bias.float()
    if output_dtype not in (None, torch.int8):
        return result.to(output_dtype)
    if offset is not None:
        result = result + offset.float()
    return result.round().clamp(-_LARGEST - 1, _LARGEST).to(torch.int8)
