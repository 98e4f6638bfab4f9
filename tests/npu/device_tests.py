# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own test files on the device, from a source tree of PyTorch's installed version.

``python tests/npu/device_tests.py PYTORCH test/test_view_ops.py ... [--cpu]`` prints for each file
the numbers of tests that passed and failed. With ``--cpu`` they run on the CPU, too, and the
failures it has as well are not listed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

# PyTorch's name for the devices of others, in its settings and in the names of classes.
DEVICE = "privateuse1"


def outcomes(folder: Path, file: str, device: str) -> dict[str, str]:
    """Run the tests of a file that PyTorch makes for a device; give "" or the error of each."""
    suffix = "_npu" if device == DEVICE else f"_{device}"
    options = ["--noconftest", "-c", os.devnull, "--rootdir", str(folder), "-p", "no:cacheprovider"]
    with tempfile.TemporaryDirectory() as made:
        report = Path(made, "report.xml")
        command = [sys.executable, "-m", "pytest", "--softnpu-npu", *options, "-k", suffix]
        done = subprocess.run(
            [*command, f"--junitxml={report}", str(folder / file)],
            capture_output=True,
            text=True,
            check=False,
            cwd=(folder / file).parent,
            env={**os.environ, "PYTORCH_TESTING_DEVICE_ONLY_FOR": device},
        )
        if done.returncode not in (0, 1) or not report.is_file():
            raise RuntimeError(f"{file} did not run to its end:\n{done.stdout}{done.stderr}")
        return dict(_read(report, suffix))


def _read(report: Path, suffix: str) -> Iterator[tuple[str, str]]:
    for case in ET.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            errors = [*case.iter("failure"), *case.iter("error")]
            name = case.get("name", "").replace(suffix, "")
            yield name, errors[0].get("message", "error") if errors else ""


def main() -> None:
    """Run the files, and print what passed and failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tree", type=Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    for file in options.files:
        start = time.monotonic()
        ran = outcomes(options.tree.resolve(), file, DEVICE)
        failed = {name: error for name, error in ran.items() if error}
        elsewhere = outcomes(options.tree.resolve(), file, "cpu") if options.cpu else {}
        alone = {name: error for name, error in failed.items() if not elsewhere.get(name)}
        of_these = f" (not on the CPU: {len(alone)})" if options.cpu else ""
        passed = len(ran) - len(failed)
        seconds = time.monotonic() - start
        print(f"{file}: {passed} passed, {len(failed)} failed{of_these}, {seconds:.0f} s")
        for name, error in alone.items():
            print(f"  {name}: {error.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
