# SPDX-License-Identifier: Apache-2.0
"""A picture of what `python -m benchmarks` printed: `python -m benchmarks.picture FILE PICTURE`."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.__main__ import read

WIDEST = 64.0  # cases beyond it are drawn at the edge


def draw(ratios: dict[str, float], file: Path) -> None:
    """Draw a dot for each case, and a line of them for each class."""
    classes = list(dict.fromkeys(name.partition("/")[0] for name in ratios))[::-1]
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.22 * len(classes)))
    places = [classes.index(name.partition("/")[0]) for name in ratios]
    colours = ["#1f6f8b" if ratio >= 1 else "#d98a29" for ratio in ratios.values()]
    axes.scatter([min(ratio, WIDEST) for ratio in ratios.values()], places, s=14, c=colours)
    axes.axvline(1, color="#777777", lw=1, zorder=0)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.set_yticks(range(len(classes)), classes)
    axes.set_xlabel("times faster than PyTorch")
    figure.savefig(file, dpi=140, bbox_inches="tight")


if __name__ == "__main__":
    draw(read(Path(sys.argv[1])), Path(sys.argv[2]))
