# SPDX-License-Identifier: Apache-2.0
"""leaky_relu and leaky_relu_ as operators of PyTorch's."""

import torch
from torch import Tensor

from softnpu.torch.unary import define_unary


def _along(direction: Tensor, x: Tensor, negative_slope: float = 0.01) -> Tensor:
    return torch.where(x > 0, direction, direction * negative_slope)


leaky_relu, leaky_relu_ = define_unary("leaky_relu", _along)
