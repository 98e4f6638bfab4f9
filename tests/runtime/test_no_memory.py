# SPDX-License-Identifier: Apache-2.0
"""Every function of the C API where memory runs out at each place where it allocates."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.runtime.test_native import compile_and_run
from tests.support.capi_symbols import library_folder
from tests.support.process import SANITIZED

pytestmark = pytest.mark.skipif(SANITIZED, reason="a sanitizer has an allocator of its own")


def exported(*libraries: str) -> set[str]:
    """The functions of the C API that the libraries define."""
    files = [str(library_folder() / f"lib{name}.so") for name in libraries]
    command = ["nm", "-D", "--defined-only", *files]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r" T ([aA]cl\w+)$", table, flags=re.MULTILINE))


@pytest.mark.parametrize(
    ("program", "libraries", "sites"),
    [
        ("no_memory_device", ["ascendcl"], 300),
        ("no_memory_operators", ["nnopbase", "opapi"], 300),
    ],
)
def test_every_function_at_every_site(
    tmp_path: Path, program: str, libraries: list[str], sites: int
) -> None:
    """It gives a documented code, leaks nothing, and the next calls work."""
    config = tmp_path / "acl.json"
    config.write_text('{"a": [1, 2.5, "x", {}]}')
    options = ["-std=c++20", f'-DSOFTNPU_CONFIG="{config}"']
    options += ["-lascendcl", "-lnnopbase", "-lopapi"]
    done = compile_and_run(program, tmp_path, options)
    assert done.returncode == 0, done.stderr
    *called, number, _ = done.stdout.split()
    assert set(called) == exported(*libraries)
    assert int(number) > sites
