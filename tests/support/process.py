# SPDX-License-Identifier: Apache-2.0
"""What the system says of this process, and what its children are told."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from tests.support.paths import ROOT

# Whether a sanitizer was loaded before everything else.
SANITIZED = "san" in os.environ.get("LD_PRELOAD", "")


def resident_bytes() -> int:
    """The memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def importing_tests(variable: str = "PYTHONPATH") -> dict[str, str]:
    """An environment in which the tests' modules are found, from whatever folder."""
    path = filter(None, [str(ROOT), os.environ.get(variable)])
    return {**os.environ, variable: os.pathsep.join(path)}
