# SPDX-License-Identifier: Apache-2.0
"""Sharding rules of the operators, for the `DTensor`s of `torch.distributed.tensor`.

Importing this module registers them; `softnpu.torch.library` imports it when a program has
DTensors. A rule reads the operands' sharding, redistributes operands that do not match, calls the
operator on the local shards, and sets the sharding of the result. The arguments need conversion,
because sizes and means refer to the whole tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard

from softnpu.torch import schemas
from softnpu.torch.fake import Size, contiguous_strides, strides_like
from softnpu.torch.library import LIBRARY
from softnpu.torch.smooth_l1_loss import MEAN, NONE

Sizes = Sequence[Size]
Arguments = Sequence[Any]
Compute = Callable[[Any, Arguments, Arguments], Tensor]


class Extent(NamedTuple):
    """The shape that a call iterates over; the operands' dimensions are its last ones."""

    sizes: Sizes
    free: int  # the number of leading dimensions that may be sharded


class Rule(NamedTuple):
    """How one operator is sharded."""

    extent: Callable[..., Extent]  # of the call's tensors
    sizes: Callable[..., Sizes]  # of the result, from the call's arguments
    compute: Compute  # calls the operator with the local shards
    contiguous: bool = False  # the layout of the result; otherwise like the first operand's


def _whole(sizes: Sizes) -> Extent:
    """Shard nothing: for operands with mismatched shapes, which the core refuses."""
    return Extent(sizes, 0)


def _elements(first: Tensor, *rest: Tensor) -> Extent:
    same = all(tensor.shape == first.shape for tensor in rest)
    return Extent(first.shape, first.dim()) if same else _whole(first.shape)


def _broadcast(*tensors: Tensor) -> Extent:
    try:
        sizes = torch.broadcast_shapes(*[tensor.shape for tensor in tensors])
    except RuntimeError:
        return _whole(tensors[0].shape)
    return Extent(sizes, len(sizes))


def _volumes(first: Tensor, *rest: Tensor) -> Extent:
    """Keep D, H and W in one piece."""
    same = all(t.dim() == first.dim() and t.shape[:-3] == first.shape[:-3] for t in rest)
    return Extent(first.shape, max(first.dim() - 3, 0)) if same else _whole(first.shape)


def _as_it_is(operator: Any, local: Arguments, _call: Arguments) -> Tensor:
    return operator(*local)


def _loss(operator: Any, local: Arguments, call: Arguments) -> Tensor:
    """Return this process's part of the sum, or of the mean over all elements."""
    result = operator(*local)
    if _reduction(*call) != MEAN:
        return result
    here, all_ = _terms(*local[:2]), _terms(*call[:2])
    if here == all_:
        return result
    return result * (here / all_) if here else torch.zeros_like(result)


def _loss_backward(operator: Any, local: Arguments, call: Arguments) -> Tensor:
    """Divide by the number of all elements instead of the local ones."""
    gradient, self, target, reduction, beta = local
    here, all_ = _terms(self, target), _terms(*call[1:3])
    if reduction != MEAN or here == all_:
        return operator(*local)
    if gradient.dtype == torch.float32:
        return operator(gradient * (here / all_), self, target, reduction, beta)
    # The product of a small gradient and a small part may underflow in 16 bits.
    return operator(*local).mul_(here / all_)


def _volume(operator: Any, local: Arguments, call: Arguments) -> Tensor:
    """Compute a volume of zeros if this process has no elements, which the core would refuse."""
    first = local[0].shape[:-3]
    if 0 not in first or 0 in call[0].shape[:-3]:
        return operator(*local)
    some = [
        a.new_zeros([max(n, 1) for n in first] + [*a.shape[-3:]]) if isinstance(a, Tensor) else a
        for a in local
    ]
    return operator(*some)[tuple(slice(n) for n in first)]


def _upsample_backward(operator: Any, local: Arguments, call: Arguments) -> Tensor:
    """Replace the N and C of input_size by those of the local shard."""
    gradient, output_size, input_size, *scales = local
    if tuple(input_size[:2]) != call[0].shape[:2]:
        # The core reports the error of the whole tensors.
        return operator(gradient.new_zeros(()).expand(call[0].shape), *call[1:])
    if call[0].numel():
        input_size = (*[max(n, 1) for n in gradient.shape[:2]], *input_size[2:])
    return _volume(operator, (gradient, output_size, input_size, *scales), call)


def _reduction(_self: Tensor, _target: Tensor, reduction: int = MEAN, _beta: float = 1.0) -> int:
    return reduction


def _terms(self: Tensor, target: Tensor) -> Size:
    """Count the elements of a mean."""
    return math.prod(torch.broadcast_shapes(self.shape, target.shape))


def _like_first(first: Tensor, *_rest: Any) -> Sizes:
    return first.shape


def _of_loss(self: Tensor, target: Tensor, *rest: Any) -> Sizes:
    none = _reduction(self, target, *rest) == NONE
    return torch.broadcast_shapes(self.shape, target.shape) if none else ()


def _of_loss_backward(gradient: Tensor, self: Tensor, target: Tensor, *_rest: Any) -> Sizes:
    return torch.broadcast_shapes(gradient.shape, self.shape, target.shape)


def _of_output(self: Tensor, output_size: Sizes, *_scales: Any) -> Sizes:
    return (*self.shape[:-3], *output_size)


def _of_input(_gradient: Tensor, _output_size: Sizes, input_size: Sizes, *_scales: Any) -> Sizes:
    return input_size


def _of_unpooled(self: Tensor, _indices: Tensor, output_size: Sizes, *_rest: Any) -> Sizes:
    return (*self.shape[:-3], *output_size)


def _of_pooled(_gradient: Tensor, self: Tensor, *_rest: Any) -> Sizes:
    return self.shape


_ELEMENTWISE = Rule(_elements, _like_first, _as_it_is)
# For DTensors, in-place forms copy results.
RULES = {
    **dict.fromkeys(schemas.ELEMENTWISE, _ELEMENTWISE),
    "smooth_l1_loss": Rule(_broadcast, _of_loss, _loss),
    "smooth_l1_loss_backward": Rule(_broadcast, _of_loss_backward, _loss_backward),
    "upsample_nearest3d": Rule(_volumes, _of_output, _volume),
    "upsample_nearest3d_backward": Rule(_volumes, _of_input, _upsample_backward),
    "max_unpool3d": Rule(_volumes, _of_unpooled, _volume, contiguous=True),
    "max_unpool3d_backward": Rule(_volumes, _of_pooled, _volume, contiguous=True),
}


def _own(tensor: Tensor, extent: Extent, dimension: int) -> int | None:
    """Find a tensor's dimension for one of the extent's, unless it is broadcast."""
    own = dimension - (len(extent.sizes) - tensor.dim())
    return own if own >= 0 and tensor.shape[own] == extent.sizes[dimension] else None


def _sharded(tensor: DTensor, extent: Extent, axis: int) -> int | None:
    """Find the extent's dimension in which a tensor is sharded along one axis of the mesh."""
    placement = tensor.placements[axis]
    if type(placement) is not Shard:
        return None
    dimension = placement.dim + len(extent.sizes) - tensor.dim()
    legal = dimension < extent.free and _own(tensor, extent, dimension) is not None
    return dimension if legal else None


def _choose(tensors: Sequence[DTensor], extent: Extent, axis: int) -> int | None:
    """Shard the call like its first operand that is sharded in an allowed dimension."""
    found = (_sharded(tensor, extent, axis) for tensor in tensors)
    return next((dimension for dimension in found if dimension is not None), None)


def _local(tensor: DTensor, extent: Extent, chosen: Sequence[int | None]) -> Tensor:
    """Return the local shard of an operand, redistributed if necessary."""
    own = [None if d is None else _own(tensor, extent, d) for d in chosen]
    placements = tuple(Replicate() if d is None else Shard(d) for d in own)
    if tensor.placements == placements:
        return tensor.to_local()
    alone: Any = tensor.detach()  # a move of what requires grad would be recorded
    return alone.redistribute(placements=placements).to_local()


def _mesh(operator: Any, arguments: Arguments) -> DeviceMesh:
    """Find the one mesh that all operands are on."""
    meshes = []
    for argument, value in zip(operator._schema.arguments, arguments, strict=False):
        if isinstance(value, DTensor):
            meshes.append(value.device_mesh)
            wrong = "is on another mesh" if meshes[-1] != meshes[0] else ""
        else:
            wrong = "is no DTensor" if isinstance(value, Tensor) and value.dim() else ""
        if wrong:
            raise RuntimeError(
                f"{operator._schema.name}: {argument.name} {wrong}; expected DTensors on one mesh "
                "(distribute_tensor() and DTensor.from_local() make them)"
            )
    return meshes[0]


def _call(operator: Any, rule: Rule, arguments: Arguments) -> DTensor:
    """Compute on the processes of a mesh."""
    mesh = _mesh(operator, arguments)
    extent = rule.extent(*[a for a in arguments if isinstance(a, Tensor)])
    tensors = [a for a in arguments if isinstance(a, DTensor)]
    chosen = [_choose(tensors, extent, axis) for axis in range(mesh.ndim)]
    local = [_local(a, extent, chosen) if isinstance(a, DTensor) else a for a in arguments]
    result = rule.compute(operator, local, arguments)
    sizes: Any = rule.sizes(*arguments)
    split: Callable[[int], Placement] = Shard if len(sizes) == len(extent.sizes) else _part
    placements = [Replicate() if d is None else split(d) for d in chosen]
    like = tensors[0]
    strides: Any = contiguous_strides(sizes) if rule.contiguous else strides_like(like, sizes)
    return DTensor.from_local(
        result, mesh, placements, run_check=False, shape=torch.Size(sizes), stride=tuple(strides)
    )


def _part(_dimension: int) -> Placement:
    """Add up what the processes have of a sum."""
    return Partial("sum")


def _register(name: str, rule: Rule) -> None:
    def of_tensors(
        _cls: type, operator: Any, _types: Any, arguments: Arguments = (), _kwargs: Any = None
    ) -> DTensor:
        # Autograd has recorded the call already.
        with torch.no_grad():
            return _call(operator, rule, arguments)

    torch.library.register_torch_dispatch(f"softnpu::{name}", DTensor, of_tensors, lib=LIBRARY)


for _name, _rule in RULES.items():
    _register(_name, _rule)
