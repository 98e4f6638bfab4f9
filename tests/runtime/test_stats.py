# SPDX-License-Identifier: Apache-2.0
"""What SOFTNPU_STATS says of a program."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.native import run

ELEMENTS = 300 * 200
BYTES = 4 * ELEMENTS
GATHER = "aclnnMaxUnpool3dBackward"


def test_statistics(traced_program: Path, tmp_path: Path) -> None:
    """Counts, failures, bytes and times of all that ran, one line for each process."""
    file = tmp_path / "stats"
    for _ in range(2):
        assert run(traced_program, "to its end", SOFTNPU_STATS=str(file)).returncode == 0
    processes = [json.loads(line) for line in file.read_text().splitlines()]
    assert len({process["pid"] for process in processes}) == 2
    for process in processes:
        assert process["program"] == "traced"
        rows = {row["what"]: row for row in process["rows"]}
        assert {
            name: (r["kind"], r["count"], r["failed"], r["bytes"]) for name, r in rows.items()
        } == {
            "aclnnElu": ("operator", 3, 0, 5 * BYTES + 800),
            GATHER: ("operator", 1, 1, 16),
            "aclrtMemcpyAsync": ("copy", 1, 0, 2 * BYTES),
            "aclrtMemcpy": ("copy", 1, 0, 16),
            "aclrtMemset": ("fill", 1, 0, BYTES),
        }
        for row in rows.values():
            assert 0 < row["median_ns"] <= row["total_ns"]
            assert row["count"] > 1 or row["median_ns"] == row["total_ns"]


def test_statistics_on_stderr(traced_program: Path) -> None:
    """SOFTNPU_STATS=stderr prints a table."""
    lines = run(traced_program, "to its end", SOFTNPU_STATS="stderr").stderr.splitlines()
    table = [line.split() for line in lines if line.startswith("softnpu: ") and "NPU" not in line]
    assert table[0][1:3] == ["operator", "count"]
    assert [row[1:3] for row in table[1:]] == [
        ["aclnnElu", "3"],
        [GATHER, "1"],
        ["aclrtMemcpy", "1"],
        ["aclrtMemcpyAsync", "1"],
        ["aclrtMemset", "1"],
    ]
