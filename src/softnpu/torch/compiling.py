# SPDX-License-Identifier: Apache-2.0
"""softnpu's own functions in graphs of torch.compile and torch.export.

What they need is set when PyTorch imports its compiler, which takes as long as the rest of it.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

import torch

from softnpu import functional

_COMPILER = "torch._dynamo"


def take_part() -> None:
    """Put calls of the functions into graphs as they are, now or when the compiler is imported."""
    if _COMPILER in sys.modules:
        _allow()
    else:
        sys.meta_path.insert(0, _AtImport())


def _allow() -> None:
    for name in functional.__all__:
        function = getattr(functional, name)
        if isinstance(function, FunctionType):
            torch.compiler.allow_in_graph(function)


class _AtImport(MetaPathFinder):
    """Finds the compiler once, as the others do, and waits for the end of its import."""

    def find_spec(
        self, name: str, path: Any, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if name != _COMPILER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def then_allow(module: ModuleType) -> None:
            execute(module)
            _allow()

        spec.loader.exec_module = then_allow  # type: ignore[method-assign]
        return spec
