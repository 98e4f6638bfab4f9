# SPDX-License-Identifier: Apache-2.0
"""All cases beside PyTorch: `python -m benchmarks [TEXT ...] [--before FILE]`.

python -m benchmarks > after.txt                  # all cases, some minutes
python -m benchmarks transposed --before old.txt  # some, and what has changed since old.txt
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from benchmarks.cases import table
from softnpu.cli.bench import Row, conclude, load_torch, timed

LINE = re.compile(r"^(\S.*?) +([\d.]+) us +([\d.]+) us +[\d.]+x$", re.M)
# A change of less than this is noise.
NOISE = 1.1


def read(file: Path) -> dict[str, float]:
    """Read the ratios of a run by the names of its cases."""
    return {name: float(peer) / float(ours) for name, ours, peer in LINE.findall(file.read_text())}


def show_changes(before: dict[str, float], rows: list[Row]) -> None:
    """Print the cases whose ratio to PyTorch has changed; both sides meet a machine's load."""
    for row in rows:
        factor = row.peer / row.ours / before.get(row.name, row.peer / row.ours)
        if not 1 / NOISE < factor < NOISE:
            print(f"{row.name:<48}{factor:8.2f}x as fast as before")


def main() -> None:
    """Time the cases whose names have one of the texts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="a part of a case's name")
    parser.add_argument("--before", type=Path, metavar="FILE", help="what an earlier run printed")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    before = read(given.before) if given.before else {}
    load_torch()
    rows = []
    for case in table():
        if not given.texts or any(text in case.name for text in given.texts):
            rows.append(timed(case.name, case.statements, case.prepare(), given.rounds))
            print(rows[-1], flush=True)
    conclude(rows, 0)
    show_changes(before, rows)


if __name__ == "__main__":
    main()
