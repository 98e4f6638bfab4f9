# SPDX-License-Identifier: Apache-2.0
"""A dispatch mode that computes PyTorch's own operators by softnpu where it has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from softnpu.errors import AclnnError
from softnpu.torch.elu import elu, elu_
from softnpu.torch.elu_backward import elu_backward
from softnpu.torch.max_unpool3d import max_unpool3d
from softnpu.torch.smooth_l1_loss import smooth_l1_loss
from softnpu.torch.smooth_l1_loss_backward import smooth_l1_loss_backward
from softnpu.torch.upsample_nearest3d import upsample_nearest3d
from softnpu.torch.upsample_nearest3d_backward import upsample_nearest3d_backward

_aten = torch.ops.aten


def _upsample_vec(x: Tensor, size: Any, factors: Any = None) -> Any:
    if size is None:
        size = [int(n * f) for n, f in zip(x.shape[2:], factors, strict=True)]
    return upsample_nearest3d(x, size, *(factors or ()))


_ROUTES: dict[Any, Callable[..., Any]] = {
    _aten.elu.default: elu,
    _aten.elu.out: elu,
    _aten.elu_.default: elu_,
    _aten.elu_backward.default: elu_backward,
    _aten.smooth_l1_loss.default: smooth_l1_loss,
    _aten.smooth_l1_loss.out: smooth_l1_loss,
    _aten.smooth_l1_loss_backward.default: smooth_l1_loss_backward,
    _aten.upsample_nearest3d.default: upsample_nearest3d,
    _aten.upsample_nearest3d.out: upsample_nearest3d,
    _aten.upsample_nearest3d.vec: _upsample_vec,
    _aten.upsample_nearest3d_backward.default: upsample_nearest3d_backward,
    _aten.max_unpool3d.default: max_unpool3d,
    _aten.max_unpool3d.out: max_unpool3d,
}


class Patch(TorchDispatchMode):
    """What `patch` gives: the mode, and its account of what it did.

    Attributes
    ----------
    routed : Counter of str
        How often softnpu computed each of PyTorch's operators.
    kept : Counter of (str, str)
        How often an operator was left to PyTorch, and why.
    """

    def __init__(self) -> None:
        super().__init__()
        self.routed: Counter[str] = Counter()
        self.kept: Counter[tuple[str, str]] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Compute by softnpu if it has the operator and admits the arguments."""
        kwargs = kwargs or {}
        route = _ROUTES.get(func)
        if route is None:
            return func(*args, **kwargs)
        reason = _elsewhere(args)
        if reason is None:
            try:
                result = route(*args, **kwargs)
            except AclnnError as error:
                reason = str(error)
            else:
                self.routed[str(func)] += 1
                return result
        self.kept[str(func), reason] += 1
        return func(*args, **kwargs)

    def report(self) -> str:
        """Say in lines what was routed, how often, and what was not, and why."""
        lines = [f"{name}: {count} by softnpu" for name, count in sorted(self.routed.items())]
        for (name, reason), count in sorted(self.kept.items()):
            lines.append(f"{name}: {count} by PyTorch: {reason}")
        return "\n".join(lines)


def _elsewhere(args: tuple[Any, ...]) -> str | None:
    """Why tensors are none of softnpu's, if they are not."""
    for argument in args:
        if isinstance(argument, Tensor) and argument.device.type not in ("cpu", "cuda"):
            where = argument.device
            return f"a tensor lies on device {where}; expected it on the CPU or an NVIDIA GPU"
    return None


@contextmanager
def patch() -> Iterator[Patch]:
    """Compute PyTorch's own operators by softnpu within a ``with`` block.

    elu, selu, smooth_l1_loss, nearest upsampling in 3-D and max_unpool3d are routed, and their
    gradients where the backward pass runs within the block, too. What softnpu does not admit is
    left to PyTorch, and counted.

    Yields
    ------
    Patch
        Its ``report()`` says what was routed.

    Examples
    --------
    >>> with softnpu.torch.patch() as patched:
    ...     loss(model(x), y).backward()
    >>> print(patched.report())
    """
    with Patch() as mode:
        yield mode
