# SPDX-License-Identifier: Apache-2.0
"""Pictures of the operators: curves of those that are functions, small arrays of the others."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import softnpu
from softnpu.contract import load_contracts

Array = npt.NDArray[Any]

COLOURS = {"light": "#333333", "dark": "#dddddd"}
LINES = ("#009485", "#e07b00", "#8e6bbf")
X = np.linspace(-4, 4, 401, dtype=np.float32)
ONES = np.ones_like(X)
PLACES = np.array([0, 3, 9, 14]).reshape(1, 1, 1, 2, 2)


class Curves(NamedTuple):
    """Functions of one variable."""

    label: str
    x: Array
    values: dict[str, Array]


def curves() -> dict[str, Curves]:
    """Compute what the functions give."""
    zero = np.zeros_like(X)
    results = np.linspace(-1.7, 3, 401, dtype=np.float32)
    steps = (0.5, 1, 2)
    elu = {f"alpha = {a:g}": softnpu.elu(X, a) for a in steps}
    slope = {f"alpha = {a:g}": softnpu.elu_backward(ONES, a, 1, 1, False, X) for a in steps}
    loss = {f"beta = {b:g}": softnpu.smooth_l1_loss(X, zero, "none", b) for b in steps}
    back = {
        f"beta = {b:g}": softnpu.smooth_l1_loss_backward(ONES, X, zero, "none", b) for b in steps
    }
    selu_slope = softnpu.selu_backward(ONES, results)
    plain = {
        one.family: Curves("x", X, {one.family: getattr(softnpu, one.family)(X)})
        for one in load_contracts().values()
        if [a.kind for a in one.arguments].count("tensor") == 2 and one.table["elementwise"]
    }
    return plain | {
        "elu": Curves("x", X, elu),
        "elu_backward": Curves("x", X, slope),
        "selu_backward": Curves("result", results, {"selu_backward": selu_slope}),
        "smooth_l1_loss": Curves("self - target", X, loss),
        "smooth_l1_loss_backward": Curves("self - target", X, back),
    }


def arrays() -> dict[str, list[tuple[str, Array]]]:
    """Small inputs with the results, in the order in which they are drawn."""
    small = np.array([[1, 2], [3, 4]], np.float32)
    values = small.reshape(1, 1, 1, 2, 2)
    grad = np.arange(16, dtype=np.float32).reshape(4, 4)
    wide = softnpu.upsample_nearest3d(values, (1, 4, 5))
    ones = np.ones((1, 1, 1, 4, 5), np.float32)
    back = softnpu.upsample_nearest3d_backward(ones, (1, 4, 5), (1, 1, 1, 2, 2))
    size, stride, padding = (1, 4, 4), (1, 2, 2), (0, 0, 0)
    scattered = softnpu.max_unpool3d(values, PLACES, size, stride, padding)
    volume = grad.reshape(1, 1, 1, 4, 4)
    gathered = softnpu.max_unpool3d_backward(volume, values, PLACES, size, stride, padding)
    indices = ("indices", PLACES[0, 0, 0])
    return {
        "upsample_nearest3d": [("self", small), ("out", wide[0, 0, 0])],
        "upsample_nearest3d_backward": [("gradOut", ones[0, 0, 0]), ("gradInput", back[0, 0, 0])],
        "max_unpool3d": [("self", small), indices, ("outRef", scattered[0, 0, 0])],
        "max_unpool3d_backward": [("gradOutput", grad), indices, ("out", gathered[0, 0, 0])],
    }


def everything() -> dict[str, str | bytes]:
    """Draw each picture for light and for dark pages."""
    drawings: dict[str, Callable[[str], bytes]] = {}
    for name, lines in curves().items():
        drawings[name] = partial(_plot, lines)
    for name, steps in arrays().items():
        drawings[name] = partial(_grids, steps)
    return {
        f"pictures/{name}-{scheme}.svg": draw(colour)
        for name, draw in drawings.items()
        for scheme, colour in COLOURS.items()
    }


def _plot(lines: Curves, colour: str) -> bytes:
    figure = Figure(figsize=(5, 2.8), layout="constrained")
    axes = figure.subplots()
    for (name, y), line in zip(lines.values.items(), LINES, strict=False):
        axes.plot(lines.x, y, color=line, label=name)
    axes.set_xlabel(lines.label, color=colour)
    axes.tick_params(colors=colour)
    axes.grid(color=colour, alpha=0.2)
    for spine in axes.spines.values():
        spine.set_color(colour)
    if len(lines.values) > 1:
        axes.legend(labelcolor=colour, framealpha=0)
    return _svg(figure)


def _grids(steps: list[tuple[str, Array]], colour: str) -> bytes:
    widths = [array.shape[1] for _, array in steps]
    width = 0.45 * sum(widths) + 0.6 * len(steps)
    figure = Figure(figsize=(width, 2.5), layout="constrained")
    row = figure.subplots(1, len(steps), width_ratios=widths, squeeze=False)[0]
    for axes, (name, array) in zip(row, steps, strict=True):
        _grid(axes, name, array, colour)
    return _svg(figure)


def _grid(axes: Axes, name: str, array: Array, colour: str) -> None:
    height, width = array.shape
    axes.set(xlim=(-0.1, width + 0.1), ylim=(height + 0.1, -0.1), aspect="equal")
    axes.set_title(name, color=colour, fontsize=10)
    axes.axis("off")
    for (row, column), value in np.ndenumerate(array):
        box = (column, row, 1, 1)
        axes.add_patch(_box(box, colour, filled=bool(value) or name == "indices"))
        axes.text(
            column + 0.5, row + 0.5, f"{value:g}", color=colour, ha="center", va="center", size=9
        )


def _box(box: tuple[float, float, float, float], colour: str, *, filled: bool) -> Any:
    x, y, width, height = box
    face = (*mpl.colors.to_rgb(LINES[0]), 0.25 if filled else 0)
    return mpl.patches.Rectangle((x, y), width, height, edgecolor=colour, facecolor=face, lw=0.7)


def _svg(figure: Figure) -> bytes:
    drawn = io.BytesIO()
    # The same bytes each time, without a date.
    with mpl.rc_context({"svg.hashsalt": "softnpu"}):
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    return drawn.getvalue()
