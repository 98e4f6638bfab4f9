# SPDX-License-Identifier: Apache-2.0
"""What the system says of this process."""

from __future__ import annotations

import resource
from pathlib import Path


def resident_bytes() -> int:
    """The memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
