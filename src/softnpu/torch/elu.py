# SPDX-License-Identifier: Apache-2.0
"""elu and elu_ as operators of PyTorch's."""

from __future__ import annotations

import torch
from torch import Tensor

from softnpu.torch.unary import define_unary


def _along(
    direction: Tensor, x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1
) -> Tensor:
    return torch.ops.softnpu.elu_backward(direction, alpha, scale, input_scale, False, x)


elu, elu_ = define_unary("elu", _along, out_admits=torch.can_cast)
