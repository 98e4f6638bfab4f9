# SPDX-License-Identifier: Apache-2.0
"""torch_npu's fused operators, composed of PyTorch's: so they have gradients.

Sums and products of 16-bit tensors are computed in float32 and rounded once, at the end.
"""

from softnpu.torch.npu.fused.activations import (
    npu_fast_gelu,
    npu_geglu,
    npu_silu,
    npu_swiglu,
)
from softnpu.torch.npu.fused.attention import npu_fusion_attention
from softnpu.torch.npu.fused.formats import get_npu_format, npu_dtype_cast, npu_format_cast
from softnpu.torch.npu.fused.matmul import npu_grouped_matmul, npu_linear
from softnpu.torch.npu.fused.moe import npu_moe_token_permute, npu_moe_token_unpermute
from softnpu.torch.npu.fused.norms import npu_add_rms_norm, npu_rms_norm
from softnpu.torch.npu.fused.quantized import npu_dynamic_quant, npu_quant_matmul
from softnpu.torch.npu.fused.rotary import npu_rotary_mul

__all__ = [
    "get_npu_format",
    "npu_add_rms_norm",
    "npu_dtype_cast",
    "npu_dynamic_quant",
    "npu_fast_gelu",
    "npu_format_cast",
    "npu_fusion_attention",
    "npu_geglu",
    "npu_grouped_matmul",
    "npu_linear",
    "npu_moe_token_permute",
    "npu_moe_token_unpermute",
    "npu_quant_matmul",
    "npu_rms_norm",
    "npu_rotary_mul",
    "npu_silu",
    "npu_swiglu",
]
