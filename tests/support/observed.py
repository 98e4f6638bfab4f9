# SPDX-License-Identifier: Apache-2.0
"""Runs `tests/runtime/observed.cpp` with outputs that get in its way."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

# How a line of the log begins, for each of the program's calls that fail.
FAILURE = "softnpu: error 107000: aclrtFree: devPtr "


def ended(
    program: Path,
    how: str,
    settings: dict[str, str],
    stderr: int = subprocess.PIPE,
    stdin: int = subprocess.DEVNULL,
    prepare: Callable[[], None] | None = None,
    status: int = 0,
) -> str:
    """Run the program to its end, which it must reach by itself; give its stderr."""
    done = subprocess.run(
        [program, how],
        env={**os.environ, "SOFTNPU_BANNER": "0", **settings},
        cwd=program.parent,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        preexec_fn=prepare,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (status, "done"), done.stderr
    return done.stderr or ""


def some(descriptor: int) -> bytes:
    """What is there to be read."""
    os.set_blocking(descriptor, False)
    try:
        return os.read(descriptor, 4096)
    except BlockingIOError:
        return b""
