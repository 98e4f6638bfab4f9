# SPDX-License-Identifier: Apache-2.0
"""What the stateful test knows of tensors, scalars, executors and operators."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

import softnpu
from softnpu import reference

Array = npt.NDArray[Any]

SHAPES = [(2, 8), (4, 4), (1, 1, 2, 2, 4), (1, 1, 4, 2, 2)]
NULL, INVALID = 161001, 161002


@dataclass
class Tensor:
    """A tensor as the program made it; `address` may be that of freed memory."""

    handle: int
    shape: tuple[int, ...]
    address: int
    alive: bool = True


@dataclass
class Scalar:
    """A FLOAT scalar."""

    handle: int
    value: float
    alive: bool = True


@dataclass
class Operator:
    """How an operator is called, and its definition in float64."""

    tensors: int
    scalars: int
    order: Callable[..., list[Any]]
    result: Callable[..., Array]
    in_place: bool = True


@dataclass
class Executor:
    """A planned operator with what it has kept: addresses, and what was allocated there."""

    handle: int
    name: str
    operands: list[tuple[Tensor, int, int]]
    shapes: list[tuple[int, ...]]
    values: list[float]
    workspace: int
    repeatable: bool = False
    alive: bool = True


def upsample(x: Array, _out: Array) -> Array:
    """The nearest elements of a volume of (2, 2, 4), or all of one of (4, 2, 2)."""
    return reference.upsample_nearest3d(x, (4, 2, 2))


OPERATORS = {
    "aclnnElu": Operator(
        2, 3, lambda t, s: [t[0], *s, t[1]], lambda x, _, *s: reference.elu(x, *s)
    ),
    "aclnnInplaceElu": Operator(1, 3, lambda t, s: [*t, *s], reference.elu),
    "aclnnEluBackward": Operator(
        3,
        3,
        lambda t, s: [t[0], *s, False, t[1], t[2]],
        lambda g, x, _, *s: reference.elu_backward(g, *s, False, x),
    ),
    "aclnnSelu": Operator(2, 0, lambda t, _: t, lambda x, _: reference.selu(x)),
    "aclnnInplaceSelu": Operator(1, 0, lambda t, _: t, reference.selu),
    "aclnnSeluBackward": Operator(
        3, 0, lambda t, _: t, lambda g, y, _: reference.selu_backward(g, y)
    ),
    "aclnnSmoothL1Loss": Operator(
        3,
        0,
        lambda t, _: [t[0], t[1], 0, 0.5, t[2]],
        lambda x, y, _: reference.smooth_l1_loss(x, y, 0, 0.5),
    ),
    "aclnnSmoothL1LossBackward": Operator(
        4,
        0,
        lambda t, _: [*t[:3], 0, 0.5, t[3]],
        lambda g, x, y, _: reference.smooth_l1_loss_backward(g, x, y, 0, 0.5),
    ),
    "aclnnUpsampleNearest3d": Operator(2, 0, lambda t, _: t, upsample, in_place=False),
}


def status_of(call: Callable[..., Any], *arguments: Any) -> tuple[int, Any]:
    """What C would return, and the results."""
    try:
        return 0, call(*arguments)
    except softnpu.AclnnError as error:
        return (error.status if error.message else -1), None


def is_apart(name: str, addresses: list[int]) -> bool:
    """Whether the output may lie where it does; views of one shape are the same view."""
    return OPERATORS[name].in_place or addresses[-1] not in addresses[:-1]


def planning(
    name: str, tensors: list[Tensor], scalars: list[Scalar], allocated: Container[int]
) -> int:
    """The status that phase one must have."""
    if not all(each.alive for each in [*tensors, *scalars]):
        return INVALID
    shapes = [each.shape for each in tensors]
    if name == "aclnnUpsampleNearest3d":
        if len(shapes[0]) != 5 or shapes[1] != SHAPES[3]:
            return INVALID
    elif len(set(shapes)) > 1:
        return INVALID
    if any(each.address == 0 for each in tensors):
        return NULL
    if any(each.address not in allocated for each in tensors):
        return INVALID
    return 0 if is_apart(name, [each.address for each in tensors]) else INVALID


def fitting(name: str, tensors: list[Tensor], usable: list[Tensor]) -> list[Tensor]:
    """Usable tensors that the operator can take together, where there are any."""
    shapes = [tensors[0].shape] * 4
    if name == "aclnnUpsampleNearest3d":
        shapes = [SHAPES[2], SHAPES[3], SHAPES[3], SHAPES[3]]
    chosen = []
    for i, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
        same = [each for each in usable if each.shape == shape]
        chosen.append(same[i % len(same)] if same else tensor)
    return chosen
