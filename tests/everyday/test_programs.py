# SPDX-License-Identifier: Apache-2.0
"""Everyday operators in a C++ program: launched, in a graph, on other memory, under the tools."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import run_softnpu

LAYER = Path(__file__).with_name("layer.cpp")


def expected() -> str:
    """Compute in NumPy what the program prints."""
    lines = []
    weights, bias = np.array([[1, 0], [0, 1], [1, 1]]), np.array([0.5, -0.5])

    def softmax(values: np.ndarray) -> np.ndarray:
        powers = np.exp(values - values.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    for x in (np.array([[1, 2, 3], [4, 5, 6]]), np.array([[0, 0, 0], [1, 0, 0]])):
        product = x @ weights + bias
        lines += [("product", product), ("softmax", softmax(product))]
    lines.append(("other", softmax(np.array([[1.0, 1], [0, 2]]))))
    return "".join(
        " ".join([what, *(f"{each:.4f}" for each in values.reshape(-1))]) + "\n"
        for what, values in lines
    )


@pytest.mark.parametrize(
    "options", [["run"], ["run", "--schedule", "deferred"], ["check"]], ids=lambda o: o[-1]
)
def test_a_layer(options: list[str], tmp_path: Path) -> None:
    """Law: results are the same under each schedule, and the checkers find nothing."""
    done = run_softnpu(*options, LAYER, cwd=tmp_path)
    assert done.stdout == expected(), done.stderr
    assert done.returncode == 0, done.stderr


def test_a_trace_names_the_tier(tmp_path: Path) -> None:
    """Documented operators have none."""
    done = run_softnpu("run", "--trace", "trace.json", LAYER, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    events = json.loads((tmp_path / "trace.json").read_text("utf-8"))
    events = events["traceEvents"] if isinstance(events, dict) else events
    tiers = {(e["name"], e.get("args", {}).get("tier")) for e in events}
    launched = {"aclnnMatmul", "aclnnInplaceAdd", "aclnnSoftmax"}
    assert {name for name, tier in tiers if tier == "everyday"} == launched


def test_a_missing_header(tmp_path: Path) -> None:
    """Law: one header declares what another release has in another."""
    program = tmp_path / "program.cpp"
    program.write_text(
        "#include <aclnnop/aclnn_mul.h>\n"
        "int main() { return aclnnMulsGetWorkspaceSize(0, 0, 0, 0, 0) == 161001 ? 0 : 1; }\n"
    )
    done = run_softnpu("run", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
