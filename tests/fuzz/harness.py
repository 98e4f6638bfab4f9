# SPDX-License-Identifier: Apache-2.0
"""Builds the fuzzer of the C API against the libraries of a folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = HERE / "corpus"
sys.path.insert(0, str(ROOT))  # for run.py

from tests.support.operator_list import write_everyday_list, write_operator_list  # noqa: E402
from tests.support.paths import INCLUDE  # noqa: E402

# Passing numbers that are no enumerators is the point of it.
SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize=enum", "-fno-sanitize-recover=all"]
SANITIZED += ["-DSANITIZED", "-g"]
LIBFUZZER = ["-fsanitize=fuzzer,address,undefined", *SANITIZED[1:]]


def build(
    program: Path, libraries: Path, options: list[str], compiler: str = "c++", main: bool = True
) -> None:
    """Compile it without a warning. libFuzzer brings a main() of its own."""
    libraries = libraries.resolve()
    write_operator_list(program.parent)
    write_everyday_list(program.parent)
    files = sorted(HERE.glob("*.cpp"))
    sources = [str(file) for file in files if main or file.stem != "standalone"]
    command = [compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command += [
        f'-DCONFIG="{HERE / "acl.json"}"',
        *(f"-I{folder}" for folder in (program.parent, INCLUDE, INCLUDE / "aclnn")),
        *options,
        *sources,
    ]
    command += ["-o", str(program), f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    command += [f"-Wl,-rpath-link,{libraries}", "-lascendcl", "-lnnopbase", "-lopapi", "-pthread"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise RuntimeError(built.stderr)
