# SPDX-License-Identifier: Apache-2.0
"""Reads TOML files, also with Python 3.10, whose library has no reader."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

# tomli is the same module as tomllib under its earlier name.
_toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def read(path: Path) -> dict[str, Any]:
    """Read the tables of a file."""
    tables: dict[str, Any] = _toml.loads(path.read_text(encoding="utf-8"))
    return tables
