# SPDX-License-Identifier: Apache-2.0
"""Calls of each of ``torch.ops.softnpu``'s operators, as they are checked one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tests.support.unary import unary_operators


@dataclass(frozen=True)
class Sample:
    """One operator with the arguments of a call, made anew each time."""

    name: str
    make: Callable[[], Sequence[Any]]
    differentiable: tuple[int, ...]  # places of the tensors that have a gradient
    label: str = ""

    @property
    def operator(self) -> Any:
        """The overload without ``out``."""
        return getattr(torch.ops.softnpu, self.name).default

    @property
    def id(self) -> str:
        """A name for the test."""
        return f"{self.name} {self.label}".strip()


def values(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Draw values that stay away from 0 and from each other's beta, where nothing is smooth."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(shape, generator=generator)
    return (drawn + 0.2 * drawn.sign()).to(dtype)


def distinct(*shape: int, of: int) -> Tensor:
    """Draw indices into `of` places, none twice in one plane."""
    generator = torch.Generator().manual_seed(9)
    planes, each = shape[0] * shape[1], shape[2] * shape[3] * shape[4]
    rows = [torch.randperm(of, generator=generator)[:each] for _ in range(planes)]
    return torch.stack(rows).reshape(shape)


def _elu_backward(is_result: bool) -> Callable[[], Sequence[Any]]:
    return lambda: (values(3, 4), 1.5, 1.25, 0.75, is_result, values(3, 4, seed=1) - 0.3)


def _loss(reduction: int, beta: float = 0.7) -> Callable[[], Sequence[Any]]:
    return lambda: (values(3, 4), values(4, seed=1) + 0.9, reduction, beta)


def _loss_backward(reduction: int, shape: tuple[int, ...]) -> Callable[[], Sequence[Any]]:
    return lambda: (
        values(*shape, seed=2),
        values(3, 4),
        values(3, 4, seed=1) + 0.9,
        reduction,
        0.7,
    )


def _last(tensor: Tensor) -> Tensor:
    return tensor.to(memory_format=torch.channels_last_3d)


OUT, IN = [3, 4, 6], [2, 3, 2, 2, 3]
POOL = (OUT, [1, 1, 1], [0, 0, 0])

SAMPLES = [
    Sample("elu", lambda: (values(3, 4),), (0,)),
    Sample("elu", lambda: (values(3, 4).t(), 1.5, 1.25, 0.75), (0,), "transposed"),
    Sample("elu", lambda: (values(3, 4)[:, ::2], 1.5), (0,), "sliced"),
    Sample("elu_backward", _elu_backward(True), (0, 5), "result"),
    Sample("elu_backward", _elu_backward(False), (0, 5), "input"),
    Sample("selu", lambda: (values(3, 4),), (0,)),
    Sample("selu_backward", lambda: (values(3, 4), values(3, 4, seed=1) - 0.3), (0, 1)),
    Sample("smooth_l1_loss", lambda: (values(3, 4), values(3, 4, seed=1)), (0, 1), "defaults"),
    Sample("smooth_l1_loss", _loss(0), (0, 1), "none"),
    Sample("smooth_l1_loss", _loss(1), (0, 1), "mean"),
    Sample("smooth_l1_loss", _loss(2), (0, 1), "sum"),
    Sample("smooth_l1_loss_backward", _loss_backward(0, (3, 4)), (0, 1, 2), "none"),
    Sample("smooth_l1_loss_backward", _loss_backward(1, ()), (0, 1, 2), "mean"),
    Sample("upsample_nearest3d", lambda: (values(*IN), OUT), (0,)),
    Sample("upsample_nearest3d", lambda: (values(*IN), OUT, 1.5, 2.0, 2.0), (0,), "scales"),
    Sample("upsample_nearest3d", lambda: (_last(values(*IN)), OUT), (0,), "channels-last"),
    Sample("upsample_nearest3d_backward", lambda: (values(2, 3, *OUT), OUT, IN), (0,)),
    Sample(
        "upsample_nearest3d_backward",
        lambda: (_last(values(2, 3, *OUT)), OUT, IN, 1.5, 2.0, 2.0),
        (0,),
        "channels-last, scales",
    ),
    Sample("max_unpool3d", lambda: (values(*IN), distinct(*IN, of=72), *POOL), (0,)),
    Sample(
        "max_unpool3d_backward",
        lambda: (values(2, 3, *OUT), values(*IN), distinct(*IN, of=72), *POOL),
        (0,),
    ),
    *(Sample(one.name, lambda: (values(3, 4),), (0,)) for one in unary_operators()),
]
