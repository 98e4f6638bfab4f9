# SPDX-License-Identifier: Apache-2.0
"""The cases of `python -m benchmarks`: those of `softnpu bench`, in other layouts and types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from softnpu.cli.bench import SHAPES, STATEMENTS, tensors

Names = dict[str, Any]
Change = Callable[[Names], Names]

UNARY = ("elu", "selu", "leaky_relu")
GRADIENTS = ("elu_backward", "selu_backward")
LOSSES = ("smooth_l1_loss", "smooth_l1_loss_backward")
ELEMENTWISE = (*UNARY, *GRADIENTS, *LOSSES)
UPSAMPLE = ("upsample_nearest3d", "upsample_nearest3d_backward")
UNPOOL = ("max_unpool3d", "max_unpool3d_backward")

# Without `out`, both sides make their result.
ALLOCATING = {
    "elu": ("elu(x)", "aten.elu(x)"),
    "elu_backward": (
        "elu_backward(grad, 1.0, 1.0, 1.0, False, x)",
        "aten.elu_backward(grad, 1.0, 1.0, 1.0, False, x)",
    ),
    "smooth_l1_loss": (
        "smooth_l1_loss(x, target, 1, 1.0)",
        "aten.smooth_l1_loss(x, target, 1, 1.0)",
    ),
    "upsample_nearest3d_backward": (
        "upsample_nearest3d_backward(volume, size, shape)",
        "aten.upsample_nearest3d_backward(volume, size, shape)",
    ),
}


def transposed(tensor: Tensor) -> Tensor:
    """Keep the values, column by column in memory."""
    return tensor.t().contiguous().t()


def sliced(tensor: Tensor) -> Tensor:
    """Keep the values, in every second element of the rows in memory."""
    return tensor.repeat_interleave(2, -1)[:, ::2]


def channels_last(tensor: Tensor) -> Tensor:
    """Keep the values, N, D, H, W, C in memory."""
    return tensor.contiguous(memory_format=torch.channels_last_3d)


def each(change: Callable[[Tensor], Tensor], *only: str) -> Change:
    """Change the tensors of these names, or all that hold floats."""

    def changed(names: Names) -> Names:
        floats = {n: t for n, t in names.items() if isinstance(t, Tensor) and t.is_floating_point()}
        return {**names, **{name: change(floats[name]) for name in only or floats}}

    return changed


def scaled(factor: float) -> Change:
    """Upsample by another factor than 2."""

    def changed(names: Names) -> Names:
        shape = names["volume"].shape
        small = (*shape[:2], *(round(extent / factor) for extent in shape[2:]))
        return {**names, "small": torch.randn(small), "back": torch.randn(small), "shape": small}

    return changed


def scattered(names: Names) -> Names:
    """Unpool to places anywhere in a plane, each at most once."""
    indices, places = names["indices"], names["volume"][0, 0].numel()
    planes = indices.flatten(2)
    random = [torch.randperm(places)[: planes.shape[2]] for _ in range(planes[..., 0].numel())]
    return {**names, "indices": torch.stack(random).reshape(indices.shape)}


# What is changed, and for which operators.
VARIANTS: dict[str, tuple[tuple[str, ...], Change]] = {
    "": (tuple(STATEMENTS), each(lambda t: t)),
    "float16": ((*ELEMENTWISE, *UPSAMPLE), each(Tensor.half)),
    "bfloat16": ((*ELEMENTWISE, *UPSAMPLE), each(Tensor.bfloat16)),
    "float64": ((*UPSAMPLE, *UNPOOL), each(Tensor.double)),
    "float16 and float32": (("smooth_l1_loss_backward",), each(Tensor.half, "grad")),
    "transposed": (ELEMENTWISE, each(transposed, "x")),
    "sliced": (ELEMENTWISE, each(sliced, "x")),
    "transposed out": (ELEMENTWISE, each(transposed, "out")),
    "sliced out": (ELEMENTWISE, each(sliced, "out")),
    "broadcast row": (LOSSES, each(lambda t: t[:1], "target")),
    "broadcast column": (LOSSES, each(lambda t: t[:, :1], "target")),
    "channels-last": (UPSAMPLE, each(channels_last, "small", "back", "volume", "large")),
    "by 1.5": (UPSAMPLE, scaled(1.5)),
    "by 3.3": (UPSAMPLE, scaled(3.3)),
    "scattered": (UNPOOL, scattered),
    "allocating": (tuple(ALLOCATING), each(lambda t: t)),
}


@dataclass(frozen=True)
class Case:
    """What both sides run, and how its names are made."""

    name: str
    operator: str
    size: str
    statements: tuple[str, str]
    change: Change

    def prepare(self) -> Names:
        """Make the tensors."""
        return self.change(tensors(torch, self.size))


def table() -> Iterator[Case]:
    """All of them; calls on 16 elements come in one variant."""
    for variant, (operators, change) in VARIANTS.items():
        for operator in operators:
            label = f"{operator} {variant}".strip()
            chosen = ALLOCATING if variant == "allocating" else STATEMENTS
            for size in SHAPES:
                name = f"{label}/{size}" if size != "16" else f"calls/{label}"
                if size != "16" or variant in ("", "allocating"):
                    yield Case(name, operator, size, chosen[operator], change)
