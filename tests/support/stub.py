# SPDX-License-Identifier: Apache-2.0
"""What the extension's stub says of its functions."""

from __future__ import annotations

import ast
from pathlib import Path

import softnpu

FILES = ("_core.pyi", "_operators.pyi")


def stub_functions() -> dict[str, ast.FunctionDef]:
    """The functions in the stub, and in what it takes over."""
    package = Path(softnpu.__file__).parent
    nodes = [n for name in FILES for n in ast.parse((package / name).read_text()).body]
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
