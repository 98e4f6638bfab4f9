# SPDX-License-Identifier: Apache-2.0
"""A dispatch mode in which softnpu computes those of PyTorch's operators that it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode

from softnpu.errors import AclnnError
from softnpu.torch.elu import elu
from softnpu.torch.elu_backward import elu_backward
from softnpu.torch.max_unpool3d import max_unpool3d
from softnpu.torch.smooth_l1_loss import smooth_l1_loss
from softnpu.torch.smooth_l1_loss_backward import smooth_l1_loss_backward
from softnpu.torch.upsample_nearest3d import upsample_nearest3d
from softnpu.torch.upsample_nearest3d_backward import upsample_nearest3d_backward

_aten = torch.ops.aten

_no_dispatch = torch._C._disabled_torch_dispatch_impl

Scales = Sequence[float | None]


class NotRoutedError(Exception):
    """A call that is left to PyTorch, with the reason why softnpu's result would differ."""


def _elu_in_place(x: Tensor, *numbers: float) -> Tensor:
    return x.copy_(elu(x, *numbers))


def _loss(x: Tensor, target: Tensor, *rest: Any, **out: Tensor) -> Any:
    _check_shapes(x, target)
    return smooth_l1_loss(x, target, *rest, **out)


def _loss_backward(grad: Tensor, x: Tensor, target: Tensor, reduction: int, beta: float) -> Any:
    _check_shapes(x, target)
    if beta == 0:
        raise NotRoutedError("beta is 0, where PyTorch has another slope at a difference of 0")
    return smooth_l1_loss_backward(grad, x, target, reduction, beta)


def _check_shapes(x: Tensor, target: Tensor) -> None:
    if x.shape != target.shape:
        raise NotRoutedError(f"self has shape {list(x.shape)}, and target {list(target.shape)}")


def _upsample(x: Tensor, size: Sequence[int], *scales: float | None, **out: Tensor) -> Any:
    _check_scales(x.shape[2:], size, scales)
    return upsample_nearest3d(x, size, *scales, **out)


def _upsample_vec(
    x: Tensor, size: Sequence[int] | None, factors: Sequence[float] | None = None
) -> Any:
    factors = factors or ()
    if size is None:
        size = [int(n * f) for n, f in zip(x.shape[2:], factors, strict=True)]
    return _upsample(x, size, *factors)


def _upsample_backward(
    grad: Tensor, output_size: Sequence[int], input_size: Sequence[int], *scales: float | None
) -> Any:
    _check_scales(input_size[2:], output_size, scales)
    return upsample_nearest3d_backward(grad, output_size, input_size, *scales)


def _check_scales(sizes: Sequence[int], upsampled: Sequence[int], scales: Scales) -> None:
    """Leave to PyTorch calls outside the contract, and calls for which PyTorch ignores a scale."""
    given = [s for s in scales if s is not None]
    if given and not (len(given) == 3 and all(s > 0 for s in given)):
        raise NotRoutedError(f"the scales are {list(scales)}; expected three above 0, or none")
    for n, size, scale in zip(sizes, upsampled, given, strict=False):
        if size in (n, 2 * n) and size != n * scale:
            raise NotRoutedError(
                f"PyTorch ignores a scale of {scale}, from a size of {n} to {size}"
            )


def _unpool(x: Tensor, indices: Tensor, *sizes: Sequence[int], **out: Tensor) -> Any:
    if indices.dtype != torch.int64 or not x.is_floating_point():
        raise NotRoutedError(f"self is of type {x.dtype}, and indices of {indices.dtype}")
    return max_unpool3d(x, indices, *sizes, **out)


ROUTES: dict[Any, Callable[..., Any]] = {
    _aten.elu.default: elu,
    _aten.elu.out: elu,
    _aten.elu_.default: _elu_in_place,
    _aten.elu_backward.default: elu_backward,
    _aten.smooth_l1_loss.default: _loss,
    _aten.smooth_l1_loss.out: _loss,
    _aten.smooth_l1_loss_backward.default: _loss_backward,
    _aten.upsample_nearest3d.default: _upsample,
    _aten.upsample_nearest3d.out: _upsample,
    _aten.upsample_nearest3d.vec: _upsample_vec,
    _aten.upsample_nearest3d_backward.default: _upsample_backward,
    _aten.max_unpool3d.default: _unpool,
    _aten.max_unpool3d.out: _unpool,
}


class Patch(TorchDispatchMode):
    """The mode that `patch` returns, with counts of its calls.

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
        """Compute by softnpu if it has the operator and accepts the arguments."""
        kwargs = kwargs or {}
        classes = [kind for kind in types if kind.__torch_dispatch__ is not _no_dispatch]
        if classes and not any(issubclass(kind, FakeTensor) for kind in classes):
            # The class decides. Its calls on plain tensors come here again.
            return NotImplemented
        route = ROUTES.get(func)
        if route is None or classes:
            return func(*args, **kwargs)
        reason = _elsewhere((*args, *kwargs.values()))
        if reason is None:
            try:
                result = route(*args, **kwargs)
            except (AclnnError, NotRoutedError) as error:
                reason = str(error)
            else:
                self.routed[str(func)] += 1
                return result
        self.kept[str(func), reason] += 1
        return func(*args, **kwargs)

    def report(self) -> str:
        """List the routed calls, and the calls left to PyTorch with the reasons."""
        lines = [f"{name}: {count} by softnpu" for name, count in sorted(self.routed.items())]
        for (name, reason), count in sorted(self.kept.items()):
            lines.append(f"{name}: {count} by PyTorch: {reason}")
        return "\n".join(lines)


def _elsewhere(args: tuple[Any, ...]) -> str | None:
    """Return the reason why softnpu does not support these tensors, if any."""
    for argument in args:
        if isinstance(argument, Tensor) and argument.device.type not in ("cpu", "cuda"):
            where = argument.device
            return f"a tensor lies on device {where}; expected it on the CPU or an NVIDIA GPU"
    return None


@contextmanager
def patch() -> Iterator[Patch]:
    """Compute PyTorch's own operators by softnpu within a ``with`` block.

    elu, selu, smooth_l1_loss, nearest upsampling in 3-D and max_unpool3d are routed, and also their
    gradients if the backward pass runs within the block. Calls that softnpu does not support are
    left to PyTorch, and counted.

    Yields
    ------
    Patch
        Its ``report()`` lists the routed calls.

    Examples
    --------
    >>> with softnpu.torch.patch() as patched:
    ...     loss(model(x), y).backward()
    >>> print(patched.report())
    """
    with Patch() as mode:
        yield mode
