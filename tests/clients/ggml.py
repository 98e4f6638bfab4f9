# SPDX-License-Identifier: Apache-2.0
"""Builds ggml-cann against softnpu and runs ggml's own tests of its operators.

    python tests/clients/ggml.py GGML [--build DIR] [--ops ADD,MUL_MAT] [--seconds 600] [--check]

GGML is a checkout of https://github.com/ggml-org/ggml. softnpu must be installed. test-backend-ops
compares each operator with ggml's CPU backend; every operator runs in a process of its own, because
ggml ends the process when a call fails. Such a case counts as "abort", and the others run again.
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

CASE = re.compile(r"\b\w+\((\w+=.*?)\): .*?(OK|FAIL|not supported|SUPPORTED|NOT SUPPORTED)")
MOST_ABORTS = 20


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


def run(command: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run with a time limit; what was printed before an abort is kept, line by line."""
    command = ["timeout", str(seconds), "stdbuf", "-oL", *command]
    return subprocess.run(command, text=True, capture_output=True, check=False)


def test(program: list[str], op: str, seconds: float, log: Path) -> Counter[str]:
    """Run the tests of an operator; count their results."""
    log.write_text("", encoding="utf-8")
    aborted: list[str] = []
    while True:
        # ggml's -p is a pattern that a case's parameters must have.
        skip = "|".join(re.escape(case).replace("\\-", "-") for case in aborted)
        chosen = ["-b", "CANN0", "-o", op, *(["-p", f"^(?!(?:{skip})$)"] if aborted else [])]
        done = run([*program, "test", *chosen], seconds)
        with log.open("a", encoding="utf-8") as file:
            file.write(done.stdout + done.stderr)
        results = CASE.findall(done.stdout)
        counts = Counter(result for _, result in results) + Counter(abort=len(aborted))
        if done.returncode in (0, 1, 86) or len(aborted) == MOST_ABORTS:
            return counts
        if done.returncode == 124:
            return counts + Counter(late=1)
        all_cases = CASE.findall(run([*program, "support", *chosen], 60).stdout)
        aborted.append(all_cases[len(results)][0])


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
        program = str(build(given.ggml.absolute(), folder))
        command = ["softnpu", "check", program] if given.check else [program]
        names = re.findall(r"^  (\w+)$", run([program, "--list-ops"], 60).stdout, re.MULTILINE)
        total: Counter[str] = Counter()
        for op in given.ops.split(",") if given.ops else names:
            counts = test(command, op, given.seconds, folder / f"{op}.txt")
            del counts["not supported"]
            total += counts
            if counts:
                print(f"{op:24}", *(f"{n} {kind}" for kind, n in counts.items()), flush=True)
        print(f"{'all':24}", *(f"{n} {kind}" for kind, n in total.items()))
    return 0 if set(total) == {"OK"} else 1


if __name__ == "__main__":
    sys.exit(main())
