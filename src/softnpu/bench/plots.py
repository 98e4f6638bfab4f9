# SPDX-License-Identifier: Apache-2.0
"""Pictures of a run: speed-up by case, bandwidth over size, time per element over size."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from softnpu.bench import legends
from softnpu.bench.cases import CLASSES
from softnpu.bench.report import heading, judged
from softnpu.bench.results import Results, Row

OURS, PEER, CEILING, TEXT = "#1f6f8b", "#d98a29", "#777777", "#333333"
# float32, dense, with an output that is given: one line for each of these.
LADDERS = (
    ("elu_backward", "exp", "elu, with exp"),
    ("selu_backward", "", "selu"),
    ("smooth_l1_loss_backward", "", "smooth_l1"),
)
FILES = ("speedup.png", "bandwidth.png", "time_per_element.png")


def write(results: Results, folder: Path) -> list[Path]:
    """Draw what the run has data for; raises ImportError without matplotlib."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    plt = importlib.import_module("matplotlib.pyplot")
    drawn = []
    pictures: tuple[Callable[[Any, Results], Any], ...] = (_speedup, _bandwidth, _time_per_element)
    style = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    with plt.rc_context(style):
        for name, draw in zip(FILES, pictures, strict=True):
            figure = draw(plt, results)
            if figure is not None:
                figure.suptitle(heading(results), fontsize=8, color=CEILING, y=1.0, va="bottom")
                legends.write(figure, _notes(name, results), TEXT)
                figure.savefig(folder / name, dpi=140, bbox_inches="tight")
                plt.close(figure)
                drawn.append(folder / name)
    return drawn


def _notes(name: str, results: Results) -> list[str]:
    if name == "speedup.png":
        return legends.of_speedup(results)
    lines = [ladder(results, operator, variant) for operator, variant, _ in LADDERS]
    return legends.of_lines(results, [row for line in lines if len(line) > 1 for row in line])


def ladder(results: Results, operator: str, variant: str) -> list[Row]:
    """Give the dense float32 cases of an operator from the smallest to the largest."""
    wanted = (operator, variant, "float32", "contiguous")
    found = [
        row for row in results.rows if (row.operator, row.variant, row.dtype, row.layout) == wanted
    ]
    return sorted(found, key=lambda row: row.elements)


def _speedup(plt: Any, results: Results) -> Any:
    """Every case a dot, every class a line of dots; left of 1 the peer is faster."""
    rows = judged(results.rows)
    groups = [group for group in CLASSES if any(row.group == group for row in rows)]
    if not groups:
        return None
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.42 * len(groups)))
    for place, group in enumerate(reversed(groups)):
        ratios = sorted(row.ratio or 0 for row in rows if row.group == group)
        spread = [place + 0.28 * ((7 * i) % 11 - 5) / 5 for i in range(len(ratios))]
        inside = [min(ratio, legends.WIDEST) for ratio in ratios]
        colours = [OURS if ratio >= 1 else PEER for ratio in ratios]
        axes.scatter(inside, spread, s=14, c=colours, alpha=0.75, linewidths=0)
        middle = ratios[len(ratios) // 2]
        axes.plot(
            [min(middle, legends.WIDEST)] * 2, [place - 0.36, place + 0.36], color=TEXT, lw=1.6
        )
    axes.axvline(1, color=CEILING, lw=1, zorder=0)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.set_yticks(range(len(groups)), list(reversed(groups)))
    axes.set_xlabel("times faster than PyTorch")
    figure.tight_layout()
    return figure


def _bandwidth(plt: Any, results: Results) -> Any:
    """Bandwidth over size, with the triad on as many bytes as a line above."""
    return _panels(plt, results, "GB/s", _speed_of)


def _time_per_element(plt: Any, results: Results) -> Any:
    """Time per element over size."""
    return _panels(plt, results, "ns per element", _nanoseconds_of)


def _speed_of(row: Row, seconds: float) -> float:
    return row.bytes / seconds / 1e9


def _nanoseconds_of(row: Row, seconds: float) -> float:
    return seconds / row.elements * 1e9


def _panels(plt: Any, results: Results, label: str, value: Callable[[Row, float], float]) -> Any:
    lines = [(title, ladder(results, operator, variant)) for operator, variant, title in LADDERS]
    lines = [(title, rows) for title, rows in lines if len(rows) > 1]
    if not lines:
        return None
    ticker = importlib.import_module("matplotlib.ticker")
    figure, panels = plt.subplots(1, len(lines), figsize=(4 * len(lines), 3.2), squeeze=False)
    for axes, (title, rows) in zip(panels[0], lines, strict=True):
        _line(axes, rows, "triad", CEILING, "triad on as many bytes", value, "--")
        _line(axes, rows, "peer", PEER, "PyTorch", value, "-")
        _line(axes, rows, "softnpu", OURS, "softnpu", value, "-")
        axes.set_title(title, loc="left")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks([row.elements for row in rows], [row.size for row in rows])
        axes.minorticks_off()
        axes.set_xlabel("elements, float32")
        axes.yaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(lambda number, _: f"{number:g}")
        axes.grid(axis="y", color="#e6e6e6", lw=0.6)
    panels[0][0].set_ylabel(label)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False
    )
    figure.tight_layout()
    return figure


def _line(
    axes: Any,
    rows: list[Row],
    side: str,
    colour: str,
    label: str,
    value: Callable[[Row, float], float],
    style: str,
) -> None:
    """One side's medians, with its quartiles as a band."""
    points = [(row, timing) for row in rows if (timing := getattr(row, side)) is not None]
    if not points:
        return
    x = [row.elements for row, _ in points]
    axes.plot(x, [value(row, one.median) for row, one in points], style, color=colour, label=label)
    low = [value(row, one.low) for row, one in points]
    high = [value(row, one.high) for row, one in points]
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
