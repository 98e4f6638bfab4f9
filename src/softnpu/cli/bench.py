# SPDX-License-Identifier: Apache-2.0
"""``softnpu bench``: compares the speed of the operators with PyTorch's own."""

from __future__ import annotations

import importlib
import math
import statistics
import time
import timeit
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from softnpu.cli.output import EXIT_FAILURE, EXIT_USAGE, fail

QuickOption = Annotated[bool, typer.Option("--quick", help="At most 1M elements, fewer rounds.")]
FailBelowOption = Annotated[
    float,
    typer.Option(
        "--fail-below", metavar="RATIO", help="Exit 1 if a class is below RATIO times the peer."
    ),
]

# The statements of both sides, with the names of `tensors`. PyTorch's unpooling gradient gathers.
SELU = "1.6732632423543772, 1.0507009873554805, 1.0"
STATEMENTS = {
    "elu": ("elu(x, out=out)", "aten.elu.out(x, 1.0, 1.0, 1.0, out=out)"),
    "elu_": ("elu_(own)", "aten.elu_(own)"),
    "selu": ("selu(x, out=out)", f"aten.elu.out(x, {SELU}, out=out)"),
    "selu_": ("selu_(own)", "aten.selu_(own)"),
    "leaky_relu": ("leaky_relu(x, 0.01, out=out)", "aten.leaky_relu.out(x, 0.01, out=out)"),
    "elu_backward": (
        "elu_backward(grad, 1.0, 1.0, 1.0, False, x, out=out)",
        "aten.elu_backward.grad_input(grad, 1.0, 1.0, 1.0, False, x, grad_input=out)",
    ),
    "selu_backward": (
        "selu_backward(grad, x, out=out)",
        f"aten.elu_backward.grad_input(grad, {SELU}, True, x, grad_input=out)",
    ),
    "smooth_l1_loss": (
        "smooth_l1_loss(x, target, 0, 1.0, out=out)",
        "aten.smooth_l1_loss.out(x, target, 0, 1.0, out=out)",
    ),
    "smooth_l1_loss_backward": (
        "smooth_l1_loss_backward(grad, x, target, 0, 1.0, out=out)",
        "aten.smooth_l1_loss_backward.grad_input(grad, x, target, 0, 1.0, grad_input=out)",
    ),
    "upsample_nearest3d": (
        "upsample_nearest3d(small, size, out=large)",
        "aten.upsample_nearest3d.out(small, size, out=large)",
    ),
    "upsample_nearest3d_backward": (
        "upsample_nearest3d_backward(volume, size, shape, out=back)",
        "aten.upsample_nearest3d_backward.grad_input(volume, size, shape, grad_input=back)",
    ),
    "max_unpool3d": (
        "max_unpool3d(small, indices, size, (2, 2, 2), (0, 0, 0), out=large)",
        "aten.max_unpool3d.out(small, indices, size, (2, 2, 2), (0, 0, 0), out=large)",
    ),
    "max_unpool3d_backward": (
        "max_unpool3d_backward(volume, small, indices, size, (2, 2, 2), (0, 0, 0), out=back)",
        "aten.gather.out(volume.flatten(2), 2, indices.flatten(2), out=back.flatten(2))",
    ),
}
# Sizes of matrices and volumes. Few are powers of two, which would compete for cache sets.
SHAPES = {
    "16": ((4, 4), (1, 1, 2, 2, 4)),
    "64K": ((255, 257), (2, 12, 12, 14, 16)),
    "1M": ((1000, 1049), (2, 20, 26, 30, 34)),
    "16M": ((4003, 4195), (2, 48, 50, 58, 60)),
}
# Seconds. OpenMP's idle threads spin for some milliseconds and would slow down the next side. A
# shared cache keeps arrays only after several uses.
SLEEP, WARM_UP, ROUND = 4e-3, 8e-3, 2e-3


@dataclass(frozen=True)
class Row:
    """Seconds of a call on each side: the minimum of all rounds, which is least disturbed."""

    name: str
    ours: float
    peer: float

    def __str__(self) -> str:
        ours, peer = self.ours * 1e6, self.peer * 1e6
        return f"{self.name:<48}{ours:12.2f} us{peer:12.2f} us{peer / ours:8.2f}x"


def command(quick: QuickOption = False, fail_below: FailBelowOption = 0.0) -> None:
    """Compare the speed of the operators with PyTorch's, on the same float32 tensors and threads.

    The sides take turns, and the numbers are the minimum of the rounds. Run nothing else meanwhile.
    """
    if not 0 <= fail_below < math.inf:  # comparisons with NaN are false
        fail(f"--fail-below is {fail_below:g}; it must be a ratio of 0 or more", EXIT_USAGE)
    torch = load_torch()
    rows: list[Row] = []
    for size in list(SHAPES)[: -1 if quick else None]:
        names = tensors(torch, size)
        for operator in STATEMENTS:
            name = f"calls/{operator}" if size == "16" else f"{operator}/{size}"
            rows.append(timed(name, STATEMENTS[operator], names, 9 if quick else 15))
            typer.echo(rows[-1])
    conclude(rows, fail_below)


def load_torch() -> Any:
    """Import PyTorch, and set its threads to softnpu's."""
    from softnpu import _core

    try:
        torch = importlib.import_module("torch")
    except ImportError:
        fail("bench needs PyTorch", hint="Install it with: pip install 'softnpu[torch]'")
    torch.set_num_threads(_core.get_threads())
    return torch


def tensors(torch: Any, size: str) -> dict[str, Any]:
    """Create the tensors of the statements."""
    import softnpu

    matrix, shape = SHAPES[size]
    small = (*shape[:2], *(max(1, extent // 2) for extent in shape[2:]))
    names = {name: torch.randn(matrix) for name in ("x", "target", "grad", "out", "own")}
    names |= {name: torch.randn(shape) for name in ("volume", "large")}
    names |= {name: torch.randn(small) for name in ("small", "back")}
    _, indices = torch.nn.functional.max_pool3d(names["volume"], 2, return_indices=True)
    names |= {"indices": indices, "size": shape[2:], "shape": small, "aten": torch.ops.aten}
    names["x"][names["x"] == 0] = 1.0  # PyTorch treats the result 0 of selu as negative
    names["own"].abs_().neg_()  # otherwise repeated in-place calls overflow
    return {**vars(softnpu), **names}


def timed(name: str, pair: tuple[str, str], names: dict[str, Any], rounds: int) -> Row:
    """Time two statements in turns, after checking that their results agree."""
    before = names["own"].clone()
    ours, peer = (eval(side, {**names, "own": before.clone()}).clone() for side in pair)
    if not ours.allclose(peer.reshape(ours.shape), rtol=0.02, atol=0.02):
        fail(f"{name}: softnpu and PyTorch disagree")
    sides = [timeit.Timer(side, globals=names) for side in pair]
    counts = [max(1, int(ROUND / min(side.repeat(5, 1)))) for side in sides]
    seconds = [math.inf, math.inf]
    for number in range(rounds):
        for at in (0, 1) if number % 2 else (1, 0):
            time.sleep(SLEEP)
            sides[at].timeit(1 + int(counts[at] * WARM_UP / ROUND))
            seconds[at] = min(seconds[at], sides[at].timeit(counts[at]) / counts[at])
    return Row(name, *seconds)


def conclude(rows: Iterable[Row], fail_below: float) -> None:
    """Print the geometric mean and the worst case of each class; exit with 1 if one is too slow."""
    ratios: dict[str, list[float]] = {}
    for row in rows:
        ratios.setdefault(row.name.partition("/")[0], []).append(row.peer / row.ours)
    means = {group: statistics.geometric_mean(found) for group, found in ratios.items()}
    for group, found in ratios.items():
        typer.echo(f"{group:<48}{means[group]:8.2f}x, at least {min(found):.2f}x")
    below = [f"{group} ({mean:.2f}x)" for group, mean in means.items() if mean < fail_below]
    if below:
        fail(f"below {fail_below:g}x of PyTorch: {', '.join(below)}", EXIT_FAILURE)
