# SPDX-License-Identifier: Apache-2.0
"""Runs the clients that are one source file in C++."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.command import run_softnpu

FLAGS = "--cxxflags=-std=c++11 -Wall -Wextra -Wpedantic -Werror"


def softnpu(*arguments: str, source: Path) -> subprocess.CompletedProcess[str]:
    """Compiles and runs a client by a command of softnpu, which logs nothing."""
    environment = {**os.environ, "SOFTNPU_LOG": "off", "SOFTNPU_BANNER": "0"}
    return run_softnpu(*arguments, FLAGS, source, env=environment)
