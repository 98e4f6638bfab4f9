# SPDX-License-Identifier: Apache-2.0
"""torch_npu.optim: an NPU's fused optimizer is PyTorch's, as fusing changes no result."""

from __future__ import annotations

from typing import Any

import torch


class NpuFusedAdamW(torch.optim.AdamW):
    """AdamW for tensors of the device."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad)
