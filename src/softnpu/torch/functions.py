# SPDX-License-Identifier: Apache-2.0
"""The operators of ``torch.ops.softnpu`` as functions with signatures.

TorchScript compiles them, which knows no arguments that are given by name only: not even ``out``.
"""

from typing import TYPE_CHECKING

from torch import Tensor

from softnpu.torch.elu import elu as _elu
from softnpu.torch.elu import elu_ as _elu_
from softnpu.torch.elu_backward import elu_backward as _elu_backward
from softnpu.torch.max_unpool3d import max_unpool3d as _max_unpool3d
from softnpu.torch.max_unpool3d_backward import max_unpool3d_backward as _max_unpool3d_backward
from softnpu.torch.selu import selu as _selu
from softnpu.torch.selu import selu_ as _selu_
from softnpu.torch.selu_backward import selu_backward as _selu_backward
from softnpu.torch.smooth_l1_loss import smooth_l1_loss as _smooth_l1_loss
from softnpu.torch.smooth_l1_loss_backward import (
    smooth_l1_loss_backward as _smooth_l1_loss_backward,
)
from softnpu.torch.upsample_nearest3d import upsample_nearest3d as _upsample_nearest3d
from softnpu.torch.upsample_nearest3d_backward import (
    upsample_nearest3d_backward as _upsample_nearest3d_backward,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    Sizes = Sequence[int]
else:
    Sizes = list[int]  # which TorchScript knows


def elu(
    self: Tensor,
    alpha: float = 1.0,
    scale: float = 1.0,
    input_scale: float = 1.0,
    out: Tensor | None = None,
) -> Tensor:
    """Compute elu of each element, as `softnpu.elu` does."""
    if out is not None:
        return _elu(self, alpha, scale, input_scale, out=out)
    return _elu(self, alpha, scale, input_scale)


def elu_(self: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    """Compute elu of each element in its place, as `softnpu.elu_` does."""
    return _elu_(self, alpha, scale, input_scale)


def elu_backward(
    grad_output: Tensor,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
    self_or_result: Tensor,
    out: Tensor | None = None,
) -> Tensor:
    """Compute the gradient of elu, as `softnpu.elu_backward` does."""
    if out is not None:
        return _elu_backward(
            grad_output, alpha, scale, input_scale, is_result, self_or_result, out=out
        )
    return _elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result)


def selu(self: Tensor, out: Tensor | None = None) -> Tensor:
    """Compute selu of each element, as `softnpu.selu` does."""
    if out is not None:
        return _selu(self, out=out)
    return _selu(self)


def selu_(self: Tensor) -> Tensor:
    """Compute selu of each element in its place, as `softnpu.selu_` does."""
    return _selu_(self)


def selu_backward(grad_output: Tensor, result: Tensor, out: Tensor | None = None) -> Tensor:
    """Compute the gradient of selu, as `softnpu.selu_backward` does."""
    if out is not None:
        return _selu_backward(grad_output, result, out=out)
    return _selu_backward(grad_output, result)


def smooth_l1_loss(
    self: Tensor, target: Tensor, reduction: int = 1, beta: float = 1.0, out: Tensor | None = None
) -> Tensor:
    """Compute the loss, as `softnpu.smooth_l1_loss` does: 0, 1, 2 is none, mean, sum."""
    if out is not None:
        return _smooth_l1_loss(self, target, reduction, beta, out=out)
    return _smooth_l1_loss(self, target, reduction, beta)


def smooth_l1_loss_backward(
    grad_out: Tensor,
    self: Tensor,
    target: Tensor,
    reduction: int,
    beta: float,
    out: Tensor | None = None,
) -> Tensor:
    """Compute the gradient of the loss, as `softnpu.smooth_l1_loss_backward` does."""
    if out is not None:
        return _smooth_l1_loss_backward(grad_out, self, target, reduction, beta, out=out)
    return _smooth_l1_loss_backward(grad_out, self, target, reduction, beta)


def upsample_nearest3d(
    self: Tensor,
    output_size: Sizes,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Upsample a volume of N, C, D, H, W, as `softnpu.upsample_nearest3d` does."""
    if out is not None:
        return _upsample_nearest3d(self, output_size, scales_d, scales_h, scales_w, out=out)
    return _upsample_nearest3d(self, output_size, scales_d, scales_h, scales_w)


def upsample_nearest3d_backward(
    grad_out: Tensor,
    output_size: Sizes,
    input_size: Sizes,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Compute the gradient, as `softnpu.upsample_nearest3d_backward` does."""
    if out is not None:
        return _upsample_nearest3d_backward(
            grad_out, output_size, input_size, scales_d, scales_h, scales_w, out=out
        )
    return _upsample_nearest3d_backward(
        grad_out, output_size, input_size, scales_d, scales_h, scales_w
    )


def max_unpool3d(
    self: Tensor,
    indices: Tensor,
    output_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    out: Tensor | None = None,
) -> Tensor:
    """Put pooled values back, as `softnpu.max_unpool3d` does."""
    if out is not None:
        return _max_unpool3d(self, indices, output_size, stride, padding, out=out)
    return _max_unpool3d(self, indices, output_size, stride, padding)


def max_unpool3d_backward(
    grad_output: Tensor,
    self: Tensor,
    indices: Tensor,
    output_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    out: Tensor | None = None,
) -> Tensor:
    """Compute the gradient, as `softnpu.max_unpool3d_backward` does."""
    if out is not None:
        return _max_unpool3d_backward(
            grad_output, self, indices, output_size, stride, padding, out=out
        )
    return _max_unpool3d_backward(grad_output, self, indices, output_size, stride, padding)
