# SPDX-License-Identifier: Apache-2.0
"""What the checkers cost: times of whole calls of the C API with them, over those without.

    python benchmarks/checking.py [--rounds 3]

The runs with and without checkers take turns, and each ratio is one of medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

SETTINGS = {"none": "0", "memcheck,leakcheck": "memcheck,leakcheck", "all": "all"}


def times(program: Path, tools: str) -> dict[tuple[str, int], float]:
    """Run the program once: microseconds for each operator and size."""
    settings = {"SOFTNPU_CHECK": tools, "SOFTNPU_CHECK_REPORT": os.devnull, "SOFTNPU_BANNER": "0"}
    settings["SOFTNPU_CHECK_EXITCODE"] = "0"  # it frees little
    done = subprocess.run(
        [str(program)], env={**os.environ, **settings}, capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    return {(name, int(elements)): float(micro) for name, elements, micro in rows}


def main() -> None:
    """Build, run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    found: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "checking"
        source = Path(__file__).with_suffix(".cpp")
        build = [sys.executable, "-m", "softnpu", "build", str(source), "-o", str(program)]
        subprocess.run(build, check=True)
        for _ in range(rounds):
            for setting, tools in SETTINGS.items():
                for case, micro in times(program, tools).items():
                    found[case][setting].append(micro)
    print(f"{'operator':<28}{'elements':>10}{'us':>10}  {'memcheck,leakcheck':>20}{'all':>8}")
    for (name, elements), by_setting in found.items():
        medians = {setting: statistics.median(values) for setting, values in by_setting.items()}
        ratios = [medians[setting] / medians["none"] for setting in SETTINGS]
        row = f"{name:<28}{elements:>10}{medians['none']:>10.2f}"
        print(f"{row}  {ratios[1]:>20.2f}{ratios[2]:>8.2f}")


if __name__ == "__main__":
    main()
