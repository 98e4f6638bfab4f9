# SPDX-License-Identifier: Apache-2.0
"""Runs the NPU tests of candle, a framework with a backend of its own for aclnn, on softnpu.

    python tests/clients/candle.py CHECKOUT [--check] [FILE ...]

CHECKOUT is built in place (`CFLAGS="-O0 -g0" python setup.py build_ext --inplace`). The Python that
runs this has softnpu, numpy below 2, pytest below 9 and candle's other requirements. candle looks
for the toolkit in /usr/local/Ascend alone: `softnpu sdk --install /usr/local/Ascend` lays it out.
Each file of tests is a process, under `softnpu check` with --check. This is not part of the tests.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

TOOLKIT = Path("/usr/local/Ascend/ascend-toolkit/latest")
SECONDS = 900  # of one file


def environment(checkout: Path, file: Path) -> dict[str, str]:
    """Make what the toolkit's set_env.sh makes. Some tests import candle in processes of theirs."""
    if not (TOOLKIT / "lib64" / "libascendcl.so").exists():
        sys.exit(f"{TOOLKIT} is missing: softnpu sdk --install {TOOLKIT.parents[1]}")
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(TOOLKIT / "lib64"),
        "PYTHONPATH": f"{TOOLKIT / 'python' / 'site-packages'}:{checkout / 'src'}",
        # candle takes a name without the last digit for an earlier product.
        "SOFTNPU_SOC": "Ascend310B1" if "310b" in file.parts else "Ascend910B2",
    }


def outcome(case: ET.Element) -> tuple[str, str]:
    """Say how a test ended, and the first line of the reason."""
    for kind in ("failure", "error", "skipped"):
        found = case.find(kind)
        if found is not None:
            return kind, (found.get("message") or "").split("\n")[0][:120]
    return "passed", ""


def run(file: Path, checkout: Path, checks: bool) -> list[tuple[str, str, str]]:
    """Run one file of tests: the name, the outcome and the reason of each test."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        check = ["-m", "softnpu", "check", sys.executable] if checks else []
        pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}"]
        command = [sys.executable, *check, *pytest, str(file.relative_to(checkout))]
        try:
            done = subprocess.run(
                command,
                cwd=checkout,
                env=environment(checkout, file),
                timeout=SECONDS,
                capture_output=True,
                text=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return [(file.name, "error", f"takes longer than {SECONDS} s")]
        if checks:
            print(done.stderr, file=sys.stderr)
        if not results.exists():
            return [(file.name, "error", f"ends with {done.returncode}: {done.stderr[-200:]}")]
        cases = ET.parse(results).getroot().iter("testcase")
        return [(f"{file.name}::{case.get('name')}", *outcome(case)) for case in cases]


def main() -> None:
    """Print each test that does not pass, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    files = [file.resolve() for file in options.files]
    counts: Counter[str] = Counter()
    for file in files or sorted((checkout / "tests" / "npu").rglob("test_*.py")):
        for name, kind, reason in run(file, checkout, options.check):
            counts[kind] += 1
            if kind != "passed":
                print(f"{kind:8} {name}  {reason}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
