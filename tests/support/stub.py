# SPDX-License-Identifier: Apache-2.0
"""What the extension's stub says of its functions."""

from __future__ import annotations

import ast
from pathlib import Path

import softnpu

STUB = Path(softnpu.__file__).parent / "_core.pyi"


def stub_functions() -> dict[str, ast.FunctionDef]:
    """The functions in the stub."""
    tree = ast.parse(STUB.read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
