# SPDX-License-Identifier: Apache-2.0
"""The gradient of max_unpool3d as an operator of PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from softnpu.torch.derivatives import keep
from softnpu.torch.fake import contiguous
from softnpu.torch.library import define
from softnpu.torch.max_unpool3d import Sizes
from softnpu.torch.recording import Gradients
from softnpu.torch.vmap import folded


def _fake(grad_output: Tensor, self: Tensor, _indices: Tensor, *_sizes: Sizes) -> Tensor:
    return contiguous(grad_output, self.shape)


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    grad_output, self, indices, *context.sizes = inputs
    context.shape = grad_output.shape
    keep(context, self, indices)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    """Add up gradients that were gathered more than once; max_unpool3d would keep the last."""
    _, indices = context.saved_tensors
    planes = context.shape[:-3]
    zeros = gradient.new_zeros((*planes, math.prod(context.shape[-3:])))
    # flatten() has no batching rule when autograd runs a batch of gradients.
    places, terms = (t.reshape((*planes, math.prod(t.shape[-3:]))) for t in (indices, gradient))
    of_grad = zeros.scatter_add(-1, places.long(), terms)
    return of_grad.reshape(context.shape), None, None, None, None, None


def _jvp(context: Any, of_grad: Tensor | None, *_others: Any) -> Tensor:
    """Gather the tangent of grad_output; only the shape of self matters."""
    self, indices = context.saved_tensors
    if of_grad is None:
        return torch.zeros_like(self)
    return torch.ops.softnpu.max_unpool3d_backward(of_grad, self, indices, *context.sizes)


max_unpool3d_backward = define(
    "max_unpool3d_backward",
    fake=_fake,
    save=_save,
    backward=_backward,
    jvp=_jvp,
    vmap=folded("max_unpool3d_backward"),
)
