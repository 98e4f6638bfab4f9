# SPDX-License-Identifier: Apache-2.0
"""Generates everything for a build: ``python codegen DESCRIPTIONS PACKAGE OUT``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Write the files that differ, so that nothing else is compiled again."""
    descriptions, package, out = map(Path, sys.argv[1:])
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    build: Any = importlib.import_module("codegen.build")
    for name, text in build.files(descriptions, package).items():
        path = out / name
        if not path.is_file() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


main()
