# SPDX-License-Identifier: Apache-2.0
"""Trains a small 3-D U-Net twice, with torch.nn and with softnpu.torch.nn, and compares the losses.

The network pools and unpools, upsamples, and uses elu and selu; the loss is smooth L1. It learns to
take the noise off volumes with balls in them, which are made here.

    python examples/torch/train.py --steps 40 --out losses.png
"""

from __future__ import annotations

import argparse
import time
from types import ModuleType

import torch
from rich.progress import track
from torch import Tensor

import softnpu.torch.nn


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


def train(nn: ModuleType, steps: int, size: int, label: str) -> tuple[list[float], float]:
    """Train; give the loss of each step, and the seconds that all took."""
    torch.manual_seed(0)
    model, loss = UNet(nn), nn.SmoothL1Loss(beta=0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(1)
    losses = []
    start = time.perf_counter()
    for _ in track(range(steps), description=label):
        noisy, clean = volumes(4, size, generator)
        optimizer.zero_grad()
        value = loss(model(noisy), clean)
        value.backward()
        optimizer.step()
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
    options = parser.parse_args()
    losses, seconds = {}, {}
    for label, nn in (("torch.nn", torch.nn), ("softnpu.torch.nn", softnpu.torch.nn)):
        losses[label], seconds[label] = train(nn, options.steps, options.size, label)
    theirs, ours = losses.values()
    apart = max(abs(a - b) / a for a, b in zip(theirs, ours, strict=True))
    for label, values in losses.items():
        print(f"{label:17} loss {values[0]:.4f} -> {values[-1]:.4f} in {seconds[label]:.1f} s")
    print(f"largest difference of a step's losses: {apart:.1e} of the loss")
    draw(losses, options.out)
    print(f"both curves are in {options.out}")


if __name__ == "__main__":
    main()
