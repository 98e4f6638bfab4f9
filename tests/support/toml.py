# SPDX-License-Identifier: Apache-2.0
"""Reads TOML files, in Python 3.10 too, whose library has no reader."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read(path: Path) -> dict[str, Any]:
    """The tables of a file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
