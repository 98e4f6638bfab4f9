# SPDX-License-Identifier: Apache-2.0
"""Runs the clients that are one source file in C++."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FLAGS = "--cxxflags=-std=c++11 -Wall -Wextra -Wpedantic -Werror"


def softnpu(*arguments: str, source: Path) -> subprocess.CompletedProcess[str]:
    """Compiles and runs a client by a command of softnpu, which logs nothing."""
    return subprocess.run(
        [sys.executable, "-m", "softnpu", *arguments, FLAGS, str(source)],
        env={**os.environ, "SOFTNPU_LOG": "off", "SOFTNPU_BANNER": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
