# SPDX-License-Identifier: Apache-2.0
"""Names of torch_npu that softnpu does not have: one message for all modules."""

from __future__ import annotations

import difflib
import sys
from types import ModuleType
from typing import Any, NoReturn


def explain(module: ModuleType, public: str) -> None:
    """Let a module report names that it lacks, under the name that programs know it by."""
    own = getattr(module, "__getattr__", None)

    def find(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                pass
        missing(module, public, name)

    module.__getattr__ = find  # type: ignore[method-assign]


def missing(module: ModuleType, public: str, name: str) -> NoReturn:
    """Raise an AttributeError with the closest names that there are."""
    if name.startswith("__"):  # what Python asks for itself
        raise AttributeError(name)
    raise AttributeError(text(module, public, name), name=name)


def text(module: ModuleType, public: str, name: str) -> str:
    """Say that a name is missing, which ones are close, and where the list stands."""
    offered = [each for each, value in vars(module).items() if _is_offered(public, each, value)]
    close = difflib.get_close_matches(name, offered)
    hint = f"; the closest names are {', '.join(close)}" if close else ""
    return f"softnpu has no {public}.{name}{hint}. docs/npu.md lists what there is"


def _is_offered(public: str, name: str, value: Any) -> bool:
    if isinstance(value, ModuleType):
        return f"{public}.{name}" in sys.modules
    home = getattr(value, "__module__", None) or "types"  # settings are plain objects
    return not name.startswith("_") and home.startswith(("softnpu.torch.npu", "torch.", "types"))
