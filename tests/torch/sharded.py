# SPDX-License-Identifier: Apache-2.0
"""What each process of a group checks: sharded calls against the same calls in one process."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
import torch
import torch.distributed
from torch import Tensor
from torch.distributed.tensor import (
    DTensor,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from torch.distributed.tensor.debug import CommDebugMode

import softnpu.torch  # noqa: F401
from tests.torch.samples import POOL, SAMPLES, Sample, distinct, values

ops = torch.ops.softnpu
NONE, MEAN = 0, 1


def _loss(*shapes: Sequence[int], reduction: int = MEAN) -> Callable[[], Sequence[Any]]:
    """A call of the loss, or of its gradient if there are three shapes."""
    return lambda: (*[values(*s, seed=i) for i, s in enumerate(shapes)], reduction, 0.7)


# Sizes that divide by no number of processes, and some that are smaller than it.
MORE = [
    Sample("smooth_l1_loss", _loss((5, 6), (5, 6)), (0, 1), "mean, uneven"),
    Sample("smooth_l1_loss", _loss((5, 6), (5, 1)), (0, 1), "mean, broadcast"),
    Sample("smooth_l1_loss", _loss((1, 6), (5, 1)), (0, 1), "mean, outer"),
    Sample("smooth_l1_loss_backward", _loss((), (5, 6), (5, 6)), (0, 1, 2), "uneven"),
    Sample("smooth_l1_loss_backward", _loss((), (1, 6), (5, 1)), (0, 1, 2), "outer"),
    Sample("smooth_l1_loss_backward", _loss((3, 5, 6), (5, 6), (6,)), (0, 1, 2), "wide"),
    Sample(
        "max_unpool3d",
        lambda: (values(2, 2, 2, 3), distinct(2, 1, 2, 2, 3, of=72)[:, 0], *POOL),
        (0,),
        "without a batch",
    ),
]


def tensors_of(arguments: Sequence[Any]) -> list[Tensor]:
    """The tensors among the arguments of a call."""
    return [a for a in arguments if isinstance(a, Tensor)]


def spread(arguments: Sequence[Any], mesh: Any, ways: Sequence[Any]) -> list[Any]:
    """Place the tensors among the arguments."""
    rest = iter(ways)
    return [
        distribute_tensor(a, mesh, next(rest)) if isinstance(a, Tensor) else a for a in arguments
    ]


def same(got: Any, expected: Tensor, exact: bool) -> None:
    """Compare what belongs to a whole tensor, and its bits where they are to be equal."""
    assert isinstance(got, DTensor)
    assert got.stride() == expected.stride(), f"{got.stride()} but {expected.stride()}"
    whole = got.full_tensor()
    assert (whole.shape, whole.dtype) == (expected.shape, expected.dtype)
    if exact:
        assert torch.equal(whole, expected), f"{whole} but {expected}"
    else:
        torch.testing.assert_close(whole, expected, rtol=1e-6, atol=1e-7)


def reduction(sample: Sample) -> int:
    """What a call of the loss, or of its gradient, does with the elements; others have none."""
    numbers = [a for a in sample.make() if not isinstance(a, Tensor)]
    return [*numbers, MEAN][0] if sample.name.startswith("smooth_l1_loss") else NONE


def is_exact(sample: Sample) -> bool:
    """Tell whether bits are those of one process: means and sums are rounded once for each."""
    return reduction(sample) == NONE


def every_placement(sample: Sample, mesh: Any) -> None:
    """Whatever is sharded how, the result is that of one process."""
    arguments = sample.make()
    expected = sample.operator(*arguments)
    each = [[Replicate(), *map(Shard, range(t.dim()))] for t in tensors_of(arguments)]
    on_mesh = [list(itertools.product(ways, repeat=mesh.ndim)) for ways in each]
    all_ways = list(itertools.product(*on_mesh))
    for ways in all_ways[:: 1 + len(all_ways) * mesh.size() // 80]:
        same(sample.operator(*spread(arguments, mesh, ways)), expected, is_exact(sample))


def partial(sample: Sample, mesh: Any) -> None:
    """Operands that are still to be added up are, before anything is computed from them."""
    arguments = sample.make()
    parts = [
        DTensor.from_local(a if mesh.get_rank() == 0 else torch.zeros_like(a), mesh, [Partial()])
        if isinstance(a, Tensor)
        else a
        for a in arguments
    ]
    same(sample.operator(*parts), sample.operator(*arguments), exact=True)


def legal(arguments: Sequence[Any]) -> Iterator[tuple[int, list[list[Placement]]]]:
    """Shard the batch, or the channels; broadcast operands are whole in every process."""
    tensors = tensors_of(arguments)
    shape = torch.broadcast_shapes(*[t.shape[:2] for t in tensors if t.dim() == 5] or [()])
    shape = shape or torch.broadcast_shapes(*[t.shape for t in tensors])
    for dimension in (0, 1):
        ways: list[list[Placement]] = []
        for t in tensors:
            own = dimension - (len(shape) - t.dim()) if t.dim() < 5 else dimension
            fits = own >= 0 and t.shape[own] == shape[dimension]
            ways.append([Shard(own) if fits else Replicate()])
        yield dimension, ways


def silent(sample: Sample, mesh: Any) -> None:
    """A call on a legal sharding does not communicate, and neither does a forward's gradient."""
    if sample.label == "without a batch":
        return
    arguments = sample.make()
    for dimension, ways in legal(arguments):
        operands = spread(arguments, mesh, ways)
        for place in sample.differentiable:
            operands[place].requires_grad_()
        with CommDebugMode() as forward:
            result = sample.operator(*operands)
        assert forward.get_total_counts() == 0, forward.get_comm_counts()
        summed = sample.name == "smooth_l1_loss" and reduction(sample) != NONE
        assert result.placements == (Partial("sum") if summed else Shard(dimension),)
        way = Replicate() if summed else Shard(dimension)
        gradient = distribute_tensor(torch.ones(result.shape), mesh, [way])
        if sample.name.endswith("backward"):
            continue  # Its gradients are computed by PyTorch's operators, too.
        with CommDebugMode() as backward:
            torch.autograd.grad(result, [operands[p] for p in sample.differentiable], gradient)
        assert backward.get_total_counts() == 0, backward.get_comm_counts()


def graded(sample: Sample, mesh: Any = None) -> Iterator[Tensor | None]:
    """First and second derivatives, with the batch sharded over the mesh if there is one."""
    operands = list(sample.make())
    if mesh is not None:
        ways = [[Shard(0) if t.dim() > 1 else Replicate()] for t in tensors_of(operands)]
        operands = spread(operands, mesh, ways)
    leaves = [operands[place].requires_grad_() for place in sample.differentiable]
    result = sample.operator(*operands)
    first = torch.autograd.grad(result.square().sum(), leaves, create_graph=True)
    yield from first
    total = torch.stack([g.square().sum() for g in first]).sum()
    if total.requires_grad:
        yield from torch.autograd.grad(total, leaves, allow_unused=True)


def derivatives(sample: Sample, mesh: Any) -> None:
    """First and second derivatives are those of one process."""
    for got, expected in zip(graded(sample, mesh), graded(sample), strict=True):
        assert (got is None) == (expected is None)
        if isinstance(got, DTensor):
            torch.testing.assert_close(got.full_tensor(), expected, rtol=1e-5, atol=1e-6)


def in_place(mesh: Any) -> None:
    """elu_ and selu_ write to each shard, and out= to each shard of out, without communication."""
    x = values(5, 4)
    for name in ("elu", "selu"):
        operator, inplace = getattr(ops, name), getattr(ops, f"{name}_")
        for way in ([Shard(0)], [Shard(1)], [Replicate()]):
            for context in (torch.no_grad, torch.inference_mode):
                with context(), CommDebugMode() as communication:
                    mine = distribute_tensor(x.clone(), mesh, way, src_data_rank=None)
                    out = torch.zeros_like(mine)
                    kept = mine.to_local().data_ptr()
                    operator(mine, out=out)
                    assert inplace(mine) is mine
                assert communication.get_total_counts() == 0, communication.get_comm_counts()
                assert mine.to_local().data_ptr() == kept
                same(mine, operator(x), exact=True)
                same(out, operator(x), exact=True)
        leaf = distribute_tensor(x, mesh, [Shard(0)]).requires_grad_()
        inplace(leaf * 1).sum().backward()
        alone = x.clone().requires_grad_()
        inplace(alone * 1).sum().backward()
        torch.testing.assert_close(leaf.grad.full_tensor(), alone.grad)


def sixteen_bits(mesh: Any) -> None:
    """A mean over many machines does not lose gradients that 16 bits hold."""
    for dtype in (torch.float16, torch.bfloat16):
        for rows in (4, 7):
            x, y = (values(rows, 3, seed=seed, dtype=dtype) for seed in (0, 1))
            whole = (torch.tensor(1e-3, dtype=dtype), x, y, MEAN, 1e-3)
            parts = spread(whole, mesh, [[Replicate()], [Shard(0)], [Shard(0)]])
            got, expected = ops.smooth_l1_loss_backward(*parts), ops.smooth_l1_loss_backward(*whole)
            eps = torch.finfo(dtype).eps
            torch.testing.assert_close(got.full_tensor(), expected, rtol=eps, atol=6e-8)
            got, expected = (ops.smooth_l1_loss(*a[1:]) for a in (parts, whole))
            torch.testing.assert_close(got.full_tensor(), expected, rtol=2 * eps, atol=0)


def interleaved(mesh: Any) -> None:
    """Views may shard one dimension in strides, which is no Shard."""
    x = values(3, 2 * mesh.size(), 5)
    try:
        flat = distribute_tensor(x, mesh, [Shard(1)]).flatten(0, 1)
    except RuntimeError:
        return  # older versions of PyTorch have no such views
    same(ops.elu(flat), ops.elu(x.flatten(0, 1)), exact=True)
    target = distribute_tensor(x.flatten(0, 1) * 1.5, mesh, [Shard(0)])
    same(ops.smooth_l1_loss(flat, target), ops.smooth_l1_loss(x, x * 1.5), exact=False)


def nothing(mesh: Any) -> None:
    """The mean of nothing is NaN, and its gradient is empty, as in one process."""
    empty = torch.empty(0, 3)
    mine = distribute_tensor(empty, mesh, [Shard(0)])
    assert ops.smooth_l1_loss(mine, mine).full_tensor().isnan()
    one = distribute_tensor(torch.ones(()), mesh, [Replicate()])
    assert ops.smooth_l1_loss_backward(one, mine, mine, MEAN, 1.0).full_tensor().shape == (0, 3)


def refused(mesh: Any) -> None:
    """What the contract refuses is refused although the shards would be right."""
    size = mesh.size()
    x = distribute_tensor(values(size, 2, 2, 2, 3), mesh, [Shard(0)])
    few = distribute_tensor(distinct(1, 2, 2, 2, 3, of=72), mesh, [Replicate()])
    gradient = distribute_tensor(values(size, 2, 3, 4, 6), mesh, [Shard(0)])
    calls = {
        "aclnnMaxUnpool3d": lambda: ops.max_unpool3d(x, few, *POOL),
        "aclnnEluBackward": lambda: ops.elu_backward(x, 1, 1, 1, False, few.float()),
        "aclnnUpsampleNearest3dBackward": lambda: ops.upsample_nearest3d_backward(
            gradient, POOL[0], few.shape
        ),
        "aclnnSmoothL1Loss": lambda: ops.smooth_l1_loss(x, gradient),
        "target is no DTensor; expected": lambda: ops.smooth_l1_loss(x, torch.zeros(3)),
    }
    for message, call in calls.items():
        with pytest.raises((RuntimeError, ValueError), match=message):
            call()


def compiled(mesh: Any) -> None:
    """torch.compile traces a step on DTensors in one graph, with the same results."""

    def step(x: Tensor, target: Tensor) -> Tensor:
        larger = ops.upsample_nearest3d(ops.selu(ops.elu(x, 1.5)), [4, 4, 6])
        return ops.smooth_l1_loss(larger, target)

    x, target = values(4, 2, 2, 2, 3), values(4, 2, 4, 4, 6, seed=1)
    alone = x.clone().requires_grad_()
    step(alone, target).backward()
    leaf = distribute_tensor(x, mesh, [Shard(0)]).requires_grad_()
    fast = torch.compile(step, fullgraph=True, backend="aot_eager")
    (loss := fast(leaf, distribute_tensor(target, mesh, [Shard(0)]))).backward()
    torch.testing.assert_close(loss.full_tensor(), step(x, target), rtol=1e-6, atol=0)
    assert leaf.grad.placements == (Shard(0),)
    same(leaf.grad, alone.grad, exact=True)


def main() -> None:
    """Run every check on a mesh with one axis, and the placements on one with two."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", timeout=timedelta(seconds=120))
    size = torch.distributed.get_world_size()
    mesh = init_device_mesh("cpu", (size,))
    checks: list[tuple[str, Callable[[], None]]] = []
    for sample in (*SAMPLES, *MORE):
        for check in (every_placement, partial, silent, derivatives):
            name = f"{check.__name__} of {sample.id}"
            checks.append((name, lambda check=check, sample=sample: check(sample, mesh)))
        if size == 4:
            square = init_device_mesh("cpu", (2, 2))
            checks.append((sample.id, lambda s=sample, m=square: every_placement(s, m)))
    # Compiling takes seconds, and the same path on every mesh.
    for whole in (in_place, sixteen_bits, interleaved, nothing, refused, *[compiled] * (size == 2)):
        checks.append((whole.__name__, lambda whole=whole: whole(mesh)))
    for name, run in checks:
        try:
            run()
        except Exception as error:
            raise AssertionError(f"{name}, on {size} processes") from error
    print(f"{len(checks)} checks passed")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
