# SPDX-License-Identifier: Apache-2.0
"""Trains a small 3-D U-Net twice, with torch.nn and with softnpu.torch.nn, and compares the losses.

The network pools and unpools, upsamples, and uses elu and selu; the loss is smooth L1. It learns to
take the noise off volumes with balls in them, which are made here.

    python examples/torch/train.py --steps 40 --out losses.png

With --parallel, several processes share each batch, and learn what one would:

    torchrun --nproc-per-node 2 examples/torch/train.py --parallel ddp
"""

from __future__ import annotations

import argparse
import time
from types import ModuleType

import torch
import torch.distributed as dist
from rich.progress import track
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

import softnpu.torch.nn

BATCH = 4


class UNet(torch.nn.Module):
    """Two levels down and up again; `nn` has the layers that softnpu has, too."""

    def __init__(self, nn: ModuleType, channels: int = 8) -> None:
        super().__init__()

        def convolution(inputs: int, outputs: int) -> torch.nn.Module:
            return torch.nn.Conv3d(inputs, outputs, 3, padding=1)

        self.down = torch.nn.Sequential(convolution(1, channels), nn.ELU(inplace=True))
        self.pool = torch.nn.MaxPool3d(2, return_indices=True)
        self.middle = torch.nn.Sequential(convolution(channels, channels), nn.SELU())
        self.deep = torch.nn.Sequential(
            torch.nn.MaxPool3d(2), convolution(channels, channels), nn.ELU(alpha=0.5)
        )
        self.upsample = nn.Upsample(scale_factor=2, mode="nearest")
        self.unpool = nn.MaxUnpool3d(2)
        self.up = torch.nn.Sequential(convolution(2 * channels, channels), nn.SELU(inplace=True))
        self.last = convolution(channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict the volume without its noise."""
        outer = self.down(x)
        pooled, indices = self.pool(outer)
        inner = self.middle(pooled)
        inner = inner + self.upsample(self.deep(inner))
        back = self.unpool(inner, indices, output_size=outer.shape)
        prediction: Tensor = self.last(self.up(torch.cat([outer, back], dim=1)))
        return prediction


def volumes(count: int, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Balls of random places and sizes, with noise and without."""
    grid = torch.stack(torch.meshgrid(*[torch.arange(size)] * 3, indexing="ij")).float()
    centres = size * torch.rand(count, 3, 1, 1, 1, generator=generator)
    radii = size * (0.15 + 0.2 * torch.rand(count, 1, 1, 1, 1, generator=generator))
    distance = (grid - centres).square().sum(1, keepdim=True).sqrt()
    clean = (distance < radii).float()
    return clean + 0.3 * torch.randn(clean.shape, generator=generator), clean


def spread(model: torch.nn.Module, parallel: str) -> torch.nn.Module:
    """Let the processes share the work: each has the whole model (ddp), or a part of it (fsdp)."""
    if parallel == "ddp":
        return DistributedDataParallel(model)
    if parallel == "fsdp":
        from torch.distributed.fsdp import fully_shard

        return fully_shard(model)
    return model


def train(
    nn: ModuleType, steps: int, size: int, label: str, parallel: str
) -> tuple[list[float], float]:
    """Train; give the loss of each step, and the seconds that all took."""
    rank, processes = (dist.get_rank(), dist.get_world_size()) if parallel else (0, 1)
    torch.manual_seed(0)
    model, loss = spread(UNet(nn), parallel), nn.SmoothL1Loss(beta=0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(1)
    losses = []
    start = time.perf_counter()
    for _ in track(range(steps), description=label, disable=rank > 0):
        noisy, clean = (t.chunk(processes)[rank] for t in volumes(BATCH, size, generator))
        optimizer.zero_grad()
        value = loss(model(noisy), clean)
        value.backward()
        optimizer.step()
        value = value.detach() / processes
        if parallel:
            dist.all_reduce(value)
        losses.append(value.item())
    return losses, time.perf_counter() - start


def draw(losses: dict[str, list[float]], path: str) -> None:
    """Both curves in one picture."""
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(7, 4))).subplots()
    for style, (label, values) in zip(("-", "--"), losses.items(), strict=True):
        axes.plot(values, style, label=label)
    axes.set(xlabel="step", ylabel="smooth L1 loss", title="One network, two sets of operators")
    axes.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Train twice, print both times and the largest difference, draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="how many batches of 4 volumes")
    parser.add_argument("--size", type=int, default=24, help="edge of a volume; divisible by 4")
    parser.add_argument("--out", default="losses.png", help="where the picture goes")
    parser.add_argument("--parallel", choices=["ddp", "fsdp"], default="", help="under torchrun")
    options = parser.parse_args()
    if options.parallel:
        dist.init_process_group("gloo")
        if BATCH % dist.get_world_size():
            parser.error(f"{dist.get_world_size()} processes cannot share {BATCH} volumes evenly")
    losses, seconds = {}, {}
    for label, nn in (("torch.nn", torch.nn), ("softnpu.torch.nn", softnpu.torch.nn)):
        given = options.steps, options.size, label, options.parallel
        losses[label], seconds[label] = train(nn, *given)
    if options.parallel:
        rank = dist.get_rank()
        dist.destroy_process_group()
        if rank > 0:
            return
    theirs, ours = losses.values()
    apart = max(abs(a - b) / a for a, b in zip(theirs, ours, strict=True))
    for label, values in losses.items():
        print(f"{label:17} loss {values[0]:.6f} -> {values[-1]:.6f} in {seconds[label]:.1f} s")
    print(f"largest difference of a step's losses: {apart:.1e} of the loss")
    draw(losses, options.out)
    print(f"both curves are in {options.out}")


if __name__ == "__main__":
    main()
