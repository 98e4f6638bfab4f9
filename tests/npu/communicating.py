# SPDX-License-Identifier: Apache-2.0
"""One of the processes of test_npu_hccl.py: what it computes must not depend on the device."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

warnings.simplefilter("ignore")


def collectives(device: str, rank: int, size: int) -> dict[str, Any]:
    """Call each of them once."""
    mine = torch.arange(4.0, device=device) + rank
    found: dict[str, Any] = {}

    def note(name: str, *tensors: Any) -> None:
        assert {t.device.type for t in tensors} == {device}
        found[name] = [t.tolist() for t in tensors]

    total = mine.clone()
    dist.all_reduce(total)
    note("all_reduce", total)
    largest = mine.clone()
    dist.all_reduce(largest, op=dist.ReduceOp.MAX, async_op=True).wait()
    note("asynchronous", largest)
    all_of = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(all_of, mine)
    note("all_gather", *all_of)
    one = torch.empty(4 * size, device=device)
    dist.all_gather_into_tensor(one, mine)
    note("all_gather_into_tensor", one)
    part = torch.empty(4 // size, device=device)
    dist.reduce_scatter_tensor(part, mine.clone())
    note("reduce_scatter_tensor", part)
    if device == "npu":  # as hccl, and unlike gloo: a flat tensor for one of other sizes
        flat = torch.empty(4 * size, device=device)
        dist.all_gather_into_tensor(flat, mine.view(2, 2))
        assert flat.tolist() == one.tolist()
        dist.reduce_scatter_tensor(flat[: 4 // size], mine.view(2, 2))
        assert flat[: 4 // size].tolist() == part.tolist()
    sent = mine.clone() if rank == 1 else torch.empty_like(mine)
    dist.broadcast(sent, src=1)
    note("broadcast", sent)
    dist.reduce_scatter(part, list(mine.chunk(size)))
    note("reduce_scatter", part)
    dist.gather(mine, all_of if rank == 0 else None)
    note("gather", *all_of)
    dist.scatter(part, list(mine.chunk(size)) if rank == 1 else None, src=1)
    note("scatter", part)
    dist.reduce(sent, dst=0)
    if rank == 0:
        note("reduce", sent)
    swapped = torch.empty_like(mine)
    dist.all_to_all_single(swapped, mine)
    note("all_to_all_single", swapped)
    if rank == 0:
        dist.send(mine, 1)
    else:
        received = torch.empty_like(mine)
        dist.recv(received, 0)
        note("recv", received)
    dist.barrier()
    objects: list[Any] = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    found["objects"] = objects
    return found


def training(device: str, rank: int) -> list[Any]:
    """DistributedDataParallel, FSDP2 and DTensor."""
    found = []
    mesh = init_device_mesh(device, (dist.get_world_size(),))
    for wrap in (DistributedDataParallel, lambda net: fully_shard(net, mesh=mesh)):
        torch.manual_seed(0)
        net = wrap(nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)).to(device))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.ones(2, 4, device=device) + rank).square().mean().backward()
            optimizer.step()
        for p in net.parameters():
            whole = p.full_tensor() if isinstance(p, DTensor) else p
            found.append(whole.detach().cpu().tolist())
    a = distribute_tensor(torch.ones(4, 4, device=device), mesh, [Shard(0)])
    b = distribute_tensor(torch.eye(4, device=device), mesh, [Replicate()])
    found.append((a @ b).sum().full_tensor().item())
    return found


def main() -> None:
    """Write a line for each device: the same, if all is well."""
    rank = int(sys.argv[1])
    store = dist.FileStore(sys.argv[2], 2)
    dist.init_process_group(sys.argv[3], store=store, rank=rank, world_size=2)
    for device in ("cpu", "npu"):
        print(collectives(device, rank, 2), training(device, rank), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
