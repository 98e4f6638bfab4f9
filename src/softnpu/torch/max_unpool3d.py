# SPDX-License-Identifier: Apache-2.0
"""max_unpool3d as an operator of PyTorch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from softnpu.torch.derivatives import keep
from softnpu.torch.fake import contiguous
from softnpu.torch.library import define
from softnpu.torch.recording import Gradients
from softnpu.torch.vmap import folded

Sizes = Sequence[int]


def _fake(self: Tensor, _indices: Tensor, output_size: Sizes, *_rest: Sizes) -> Tensor:
    return contiguous(self, (*self.shape[:-3], *output_size))


def _save(context: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
    self, indices, *context.sizes = inputs
    keep(context, self, indices)


def _jvp(context: Any, of_self: Tensor, *_indices_and_sizes: None) -> Tensor:
    _, indices = context.saved_tensors
    return torch.ops.softnpu.max_unpool3d(of_self, indices, *context.sizes)


def _backward(context: Any, gradient: Tensor) -> Gradients:
    self, indices = context.saved_tensors
    of_self = torch.ops.softnpu.max_unpool3d_backward(gradient, self, indices, *context.sizes)
    return of_self, None, None, None, None


max_unpool3d = define(
    "max_unpool3d",
    fake=_fake,
    save=_save,
    backward=_backward,
    jvp=_jvp,
    vmap=folded("max_unpool3d"),
)
