# SPDX-License-Identifier: Apache-2.0
"""A picture of a result's errors: their number and their values."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from softnpu.judging.report import Report

RIGHT, WRONG, TEXT = "#1f6f8b", "#c0392b", "#333333"
# The maximum number of points in the picture.
MOST_POINTS = 200_000


def write(report: Report, file: Path) -> None:
    """Draw a report; raises ImportError without matplotlib."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    plt = importlib.import_module("matplotlib.pyplot")
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
        _counts(left, report)
        _places(right, report)
        verdict = "passes" if report.ok else "fails"
        what = f"{report.output}, {report.dtype} {list(report.shape)}"
        title = f"{report.operator}: {what}: {verdict}"
        figure.suptitle(title, color=TEXT if report.ok else WRONG)
        figure.savefig(file, dpi=120)
        plt.close(figure)


def _counts(axes: Any, report: Report) -> None:
    """Draw a histogram of the errors in ULP."""
    names, counts = list(report.histogram), list(report.histogram.values())
    axes.bar_label(axes.bar(names, counts, color=RIGHT))
    axes.set(xlabel=f"ULP of {report.unit}", ylabel="elements", yscale="log")
    axes.set_ylim(0.5, 3 * max(counts, default=1))
    axes.set_xlim(-1, max(len(names), 4))
    if len(names) > 8:
        axes.tick_params(axis="x", rotation=45)


def _places(axes: Any, report: Report) -> None:
    """Draw each element's error over its expected value."""
    errors = report.errors
    expected = errors.expected.astype(np.float64).ravel()
    steps = errors.ulp.ravel()
    drawn = np.flatnonzero(np.isfinite(expected) & np.isfinite(steps))
    drawn = drawn[:: max(1, -(-drawn.size // MOST_POINTS))]
    axes.scatter(expected[drawn], steps[drawn], s=4, color=RIGHT, linewidths=0)
    axes.set(xlabel="expected", ylabel=f"ULP of {report.unit}")
    axes.set_xscale("symlog", linthresh=_threshold(expected[drawn]))
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(-0.5, 3 * max(steps[drawn].max(initial=0), 1))
    for element in report.worst:
        if not element.ok and np.isfinite(element.ulp) and np.isfinite(element.expected):
            axes.plot(element.expected, element.ulp, "o", mfc="none", color=WRONG)


def _threshold(values: Any) -> float:
    """Choose the power of ten at which the axis turns from logarithmic to linear around 0."""
    sizes = np.abs(values[values != 0])
    smallest = np.quantile(sizes, 0.01) if sizes.size else 1.0
    return float(10.0 ** max(np.floor(np.log10(smallest)), -300))
