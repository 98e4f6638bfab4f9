# SPDX-License-Identifier: Apache-2.0
"""Builds ggml-cann against softnpu and runs ggml's own tests of its operators.

    python tests/clients/ggml.py GGML [--build DIR] [--ops ADD,MUL_MAT] [--seconds 600] [--check]

GGML is a checkout of https://github.com/ggml-org/ggml. softnpu must be installed. test-backend-ops
compares each operator with ggml's CPU backend; every operator runs in a process of its own, because
ggml ends the process when a call fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

RESULT = re.compile(r"^  \w+\(.*\): .*?(OK|FAIL|not supported)", re.MULTILINE)


def build(ggml: Path, folder: Path) -> Path:
    """Lay out a toolkit, compile the backend and the tests; return the program."""
    subprocess.run(["softnpu", "sdk", "--install", folder / "toolkit"], check=True)
    home = folder / "toolkit" / "ascend-toolkit" / "latest"
    os.environ["ASCEND_TOOLKIT_HOME"] = str(home)
    os.environ["LD_LIBRARY_PATH"] = f"{home}/lib64:{os.environ.get('LD_LIBRARY_PATH', '')}"
    # With the type of the product, CMake does not ask npu-smi.
    options = ["-DGGML_CANN=ON", "-DSOC_TYPE=Ascend910B3", "-DCMAKE_BUILD_TYPE=Release"]
    out = folder / "build"
    subprocess.run(["cmake", "-S", ggml, "-B", out, *options], check=True)
    subprocess.run(["cmake", "--build", out, "--target", "test-backend-ops"], check=True)
    return out / "bin" / "test-backend-ops"


def run(command: list[str], seconds: float) -> tuple[str, str, str]:
    """Return both outputs, and how it ended if not by itself."""
    # A process that aborts loses what it has not written: stdbuf has it write line by line.
    command = ["timeout", str(seconds), "stdbuf", "-oL", *command]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    ends = {0: "", 1: "", 124: "time limit"}
    return done.stdout, done.stderr, ends.get(done.returncode, f"ended with {done.returncode}")


def main() -> int:
    """Build, run the tests of each operator, print the counts; 0 if none failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ggml", type=Path)
    parser.add_argument("--build", type=Path, help="keep toolkit, build and outputs here")
    parser.add_argument("--ops", default="", help="operators of ggml, with commas")
    parser.add_argument("--seconds", type=float, default=600, help="limit for each operator")
    parser.add_argument("--check", action="store_true", help="run under softnpu check")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.build or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        program = build(given.ggml.absolute(), folder)
        os.environ.setdefault("SOFTNPU_LOG", "off")
        first = ["softnpu", "check"] if given.check else []
        names = re.findall(r"^  (\w+)$", run([str(program), "--list-ops"], 60)[0], re.MULTILINE)
        total: Counter[str] = Counter()
        for op in given.ops.split(",") if given.ops else names:
            command = [*first, str(program), "test", "-b", "CANN0", "-o", op]
            out, err, end = run(command, given.seconds)
            (folder / f"{op}.txt").write_text(out + err, encoding="utf-8")
            counts = Counter(found[1] for found in RESULT.finditer(out))
            total += counts
            if counts["OK"] or counts["FAIL"] or end:
                print(f"{op:24} {counts['OK']:5} OK {counts['FAIL']:5} FAIL  {end}", flush=True)
        print(f"{'all':24} {total['OK']:5} OK {total['FAIL']:5} FAIL")
    return 0 if total["FAIL"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
