# SPDX-License-Identifier: Apache-2.0
"""Attack the C API under AddressSanitizer and UndefinedBehaviorSanitizer.

python tests/fuzz/run.py                     the corpus, then ten million random calls, and as many
                                             with half of them of everyday operators
python tests/fuzz/run.py --calls N --seed S  another number of calls, other inputs
python tests/fuzz/run.py --grow SECONDS      look for new inputs with libFuzzer; needs clang
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import CORPUS, LIBFUZZER, ROOT, SANITIZED, build

FUZZ = ROOT / "build" / "fuzz"
# Sizes that no machine has are an error of the C API's own.
ENVIRONMENT = os.environ | {"ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1"}


def libraries(folder: Path, *options: str) -> Path:
    """Build the libraries into the folder, as far as they have changed."""
    configure = ["cmake", "--preset", "asan", "-B", str(folder), *options]
    subprocess.run(configure, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder / "sdk" / "lib64"


def attack(calls: int, seed: int) -> int:
    """Replay the corpus, make random calls, print how often each function was called."""
    program = FUZZ / "capi_fuzz"
    build(program, libraries(ROOT / "build" / "asan"), SANITIZED)
    for first in ([CORPUS], ["--everyday"]):
        command = [program, *first, "--random", str(calls), "--seed", str(seed)]
        if code := subprocess.run(command, env=ENVIRONMENT, check=False).returncode:
            return code
    return 0


def grow(seconds: int) -> int:
    """Let libFuzzer look for inputs that reach new code, and make the corpus of them."""
    folder = libraries(
        ROOT / "build" / "clang",
        "-DCMAKE_CXX_COMPILER=clang++",
        "-DSOFTNPU_SANITIZE=fuzzer-no-link,address,undefined",
    )
    program = FUZZ / "capi_libfuzzer"
    build(program, folder, LIBFUZZER, compiler="clang++", main=False)

    def run(*arguments: str | Path) -> int:
        return subprocess.run(
            [program, *arguments], env=ENVIRONMENT, cwd=FUZZ, check=False
        ).returncode

    found = FUZZ / "found"  # kept, so that the next run goes on from here
    found.mkdir(exist_ok=True)
    limits = [f"-max_total_time={seconds}", "-max_len=1024", "-timeout=20", "-detect_leaks=0"]
    if code := run(*limits, found, CORPUS):
        return code
    with tempfile.TemporaryDirectory() as smallest:
        if code := run("-set_cover_merge=1", "-use_counters=0", smallest, found, CORPUS):
            return code
        join(sorted(Path(smallest).iterdir(), key=lambda file: file.stat().st_size))
    return 0


def join(files: list[Path], count: int = 45) -> None:
    """Make a corpus of few files. Zeros between inputs end the last call of the one before."""
    for old in CORPUS.iterdir():
        old.unlink()
    for i in range(count):
        parts = [file.read_bytes() for file in files[i::count]]
        (CORPUS / f"{i:02}").write_bytes(bytes(24).join(parts))


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--grow", type=int, metavar="SECONDS")
    arguments = parser.parse_args()
    FUZZ.mkdir(parents=True, exist_ok=True)
    if arguments.grow:
        return grow(arguments.grow)
    return attack(arguments.calls, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
