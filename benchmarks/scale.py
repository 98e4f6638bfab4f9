# SPDX-License-Identifier: Apache-2.0
"""What 8 and 1,024 machines do with a batch-sharded training step that uses softnpu's operators.

    python benchmarks/scale.py                                       # measures this machine
    python benchmarks/scale.py --bandwidth 8 --convolutions 1500 --network 10 100 --out scale.png

The table of docs/scale.md comes from here; that page explains the model.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

SINGLE = 4  # bytes of a float32
BATCH = 1024  # volumes in the batch that machines divide
ALONE, CONVOLVED = "the operators alone", "two convolutions, too"
EACH = 4  # volumes of every machine where the batch grows with them

Rows = Iterator[list[str]]


@dataclass(frozen=True)
class Level:
    """One level of a 3-D U-Net: what its operators read and write for one volume."""

    channels: int
    size: int

    @property
    def full(self) -> int:
        """Elements of a volume."""
        return self.channels * self.size**3

    def forward(self) -> dict[str, float]:
        """Bytes of each operator; a pooled volume has an eighth of the elements."""
        full, pooled = SINGLE * self.full, SINGLE * self.full / 8
        return {
            "elu": 2 * full,
            "selu": 2 * pooled,
            "upsample_nearest3d": full + pooled,
            "max_unpool3d": full + 3 * pooled,  # an index is as large as two values
            "smooth_l1_loss": 2 * full,
        }

    def backward(self) -> dict[str, float]:
        """Bytes of each gradient."""
        full, pooled = SINGLE * self.full, SINGLE * self.full / 8
        return {
            "smooth_l1_loss_backward": 3 * full,
            "max_unpool3d_backward": full + 3 * pooled,
            "upsample_nearest3d_backward": full + pooled,
            "selu_backward": 3 * pooled,
            "elu_backward": 3 * full,
        }


@dataclass(frozen=True)
class Machine:
    """What one machine does alone."""

    level: Level
    bandwidth: float  # GB/s that the operators reach
    convolutions: float  # ms of the other layers for one volume, a third of them forward

    def forward(self, volumes: float) -> float:
        """Seconds."""
        moved = sum(self.level.forward().values()) / self.bandwidth / 1e9
        return volumes * (moved + self.convolutions / 3e3)

    def backward(self, volumes: float) -> float:
        """Seconds."""
        moved = sum(self.level.backward().values()) / self.bandwidth / 1e9
        return volumes * (moved + self.convolutions / 1.5e3)


@dataclass(frozen=True)
class Network:
    """What lies between machines."""

    gigabits: float  # per second, of each machine
    latency: float  # seconds of one message

    def collective(self, machines: int, parameters: float, passes: int) -> float:
        """Seconds of a collective on float32 parameters: each pass sends all parts but one's own.

        An all-gather and a reduce-scatter are one pass, an all-reduce two.
        """
        if machines == 1:
            return 0.0
        sent = (machines - 1) / machines * SINGLE * parameters
        return passes * (sent * 8 / self.gigabits / 1e9 + math.log2(machines) * self.latency)


# How many machines, with how many volumes each: a batch that they divide, and one that grows.
CASES = (
    (1, BATCH),
    (8, BATCH // 8),
    (1024, BATCH // 1024),
    (8, EACH),
    (1024, EACH),
)
HEAD = (
    *("Gbit/s", "machines", "volumes each", "forward ms", "backward ms", "gradients ms"),
    *("step ms", "efficiency"),
)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a table in Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def steps(machine: Machine, networks: list[Network], parameters: float) -> Rows:
    """Work out each case, a row for each."""
    for network in networks:
        for machines, volumes in CASES:
            forward, backward = machine.forward(volumes), machine.backward(volumes)
            reduced = network.collective(machines, parameters, 2)
            # Gradients travel while the rest of the backward pass computes.
            step = forward + max(backward, reduced)
            times = [f"{1e3 * t:,.0f}" for t in (forward, backward, reduced, step)]
            efficiency = f"{100 * (forward + backward) / step:.0f}%"
            yield [f"{network.gigabits:g}", f"{machines:,}", str(volumes), *times, efficiency]


def balances(works: dict[str, Machine], networks: list[Network], parameters: float) -> Rows:
    """Find the volumes for each machine below which the network decides."""
    for network in networks:
        for machines in (8, 1024):
            reduced = network.collective(machines, parameters, 2)
            even = [f"{reduced / work.backward(1):.2f}" for work in works.values()]
            yield [f"{network.gigabits:g}", f"{machines:,}", *even]


def alternatives(machine: Machine, networks: list[Network], parameters: float) -> Rows:
    """Compare what else could travel between 8 machines, with the operators' own time."""
    for network in networks:
        times = (
            machine.forward(EACH) + machine.backward(EACH),
            network.collective(8, parameters, 2),
            network.collective(8, parameters, 3),
            network.collective(8, 8 * EACH * machine.level.full, 1),
        )
        yield [f"{network.gigabits:g}", *[f"{1e3 * t:,.0f}" for t in times]]


def report(works: dict[str, Machine], networks: list[Network], parameters: float) -> Iterator[str]:
    """Make all tables."""
    for label, machine in works.items():
        yield f"A step with {label}:\n\n{table(HEAD, steps(machine, networks, parameters))}"
    even = table(["Gbit/s", "machines", *works], balances(works, networks, parameters))
    yield f"Volumes for each machine below which the network decides:\n\n{even}"
    head = (
        "Gbit/s",
        "the operators",
        "all-reduce gradients",
        "shard parameters",
        "gather one operand",
    )
    others = table(head, alternatives(works[ALONE], networks, parameters))
    yield f"Milliseconds of 8 machines with {EACH} volumes each:\n\n{others}"


def draw(works: dict[str, Machine], networks: list[Network], parameters: float, path: str) -> None:
    """Draw what computes beside what travels; where lines cross, the network takes over."""
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(8, 5), layout="constrained")).subplots()
    volumes = [0.01, 100.0]
    for color, (label, machine) in enumerate(works.items()):
        times = [1e3 * machine.backward(v) for v in volumes]
        axes.plot(volumes, times, f"C{color}", linewidth=2.5, label=f"backward pass: {label}")
    for color, network in enumerate(networks, len(works)):
        for style, machines in (("-", 8), ("--", 1024)):
            reduced = 1e3 * network.collective(machines, parameters, 2)
            label = f"gradients of {machines:,} machines, {network.gigabits:g} Gbit/s"
            axes.plot(volumes, [reduced] * 2, f"C{color}{style}", label=label)
    axes.set(xscale="log", yscale="log", xlabel="volumes for each machine", ylabel="milliseconds")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=100)


def fastest(call: Callable[[], object], rounds: int) -> float:
    """Seconds of the fastest call of several; the first is not counted."""
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(level: Level, rounds: int) -> tuple[float, float]:
    """GB/s of the operators and ms of two convolutions with their gradients, for a volume here."""
    import torch

    import softnpu.torch  # noqa: F401

    ops = torch.ops.softnpu
    shape, half = [1, level.channels, *[level.size] * 3], [level.size // 2] * 3
    x, other, one = torch.randn(shape), torch.randn(shape), torch.ones(())
    pooled, indices = torch.nn.functional.max_pool3d(x, 2, return_indices=True)
    pool = (shape[2:], [2] * 3, [0] * 3)
    calls: dict[str, Callable[[], object]] = {
        "elu": lambda: ops.elu(x),
        "selu": lambda: ops.selu(pooled),
        "upsample_nearest3d": lambda: ops.upsample_nearest3d(pooled, shape[2:]),
        "max_unpool3d": lambda: ops.max_unpool3d(pooled, indices, *pool),
        "smooth_l1_loss": lambda: ops.smooth_l1_loss(x, other),
        "smooth_l1_loss_backward": lambda: ops.smooth_l1_loss_backward(one, x, other, 1, 1.0),
        "max_unpool3d_backward": lambda: ops.max_unpool3d_backward(x, pooled, indices, *pool),
        "upsample_nearest3d_backward": lambda: ops.upsample_nearest3d_backward(
            x, shape[2:], [*shape[:2], *half]
        ),
        "selu_backward": lambda: ops.selu_backward(pooled, pooled),
        "elu_backward": lambda: ops.elu_backward(x, 1, 1, 1, False, other),
    }
    moved = level.forward() | level.backward()
    seconds = {name: fastest(call, rounds) for name, call in calls.items()}
    for name, taken in seconds.items():
        print(f"{name:28} {1e3 * taken:7.2f} ms  {moved[name] / taken / 1e9:6.1f} GB/s")
    layer = torch.nn.Conv3d(level.channels, level.channels, 3, padding=1)
    x.requires_grad_()
    convolution = fastest(lambda: layer(x).backward(other), 2)
    return sum(moved.values()) / sum(seconds.values()) / 1e9, 2e3 * convolution


def main() -> None:
    """Measure what is not given, print the tables, draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--size", type=int, default=64, help="edge of a volume; even")
    parser.add_argument("--bandwidth", type=float, help="GB/s that the operators reach")
    parser.add_argument("--convolutions", type=float, help="ms of the other layers for a volume")
    parser.add_argument("--network", type=float, nargs="+", default=[10.0, 100.0], help="Gbit/s")
    parser.add_argument("--latency", type=float, default=50.0, help="microseconds of a message")
    parser.add_argument("--parameters", type=float, default=19.0, help="millions of the model")
    parser.add_argument("--rounds", type=int, default=10, help="how often to measure a call")
    parser.add_argument("--out", help="where the picture goes; needs matplotlib")
    options = parser.parse_args()
    level = Level(options.channels, options.size)
    bandwidth, convolutions = options.bandwidth, options.convolutions
    if bandwidth is None or convolutions is None:
        measured = measure(level, options.rounds)
        bandwidth = measured[0] if bandwidth is None else bandwidth
        convolutions = measured[1] if convolutions is None else convolutions
    print(f"--bandwidth {bandwidth:.3g} --convolutions {convolutions:.4g}")
    networks = [Network(gigabits, options.latency / 1e6) for gigabits in options.network]
    works = {
        ALONE: Machine(level, bandwidth, 0.0),
        CONVOLVED: Machine(level, bandwidth, convolutions),
    }
    for part in report(works, networks, 1e6 * options.parameters):
        print(f"\n{part}")
    if options.out:
        draw(works, networks, 1e6 * options.parameters, options.out)


if __name__ == "__main__":
    main()
