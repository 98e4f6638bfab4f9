# SPDX-License-Identifier: Apache-2.0
"""The vendor's torch_npu: where it is installed, softnpu leaves the device `npu` to it."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from pathlib import Path

import softnpu

# The location of softnpu's torch_npu for programs of `softnpu run`.
SHIMS = Path(softnpu.__file__).resolve().parent / "sdk" / "python" / "site-packages"


def vendors_spec() -> ModuleSpec | None:
    """Find a torch_npu that is not softnpu's."""
    elsewhere = [entry for entry in sys.path if Path(entry or ".").resolve() != SHIMS]
    spec = PathFinder.find_spec("torch_npu", elsewhere)
    return None if spec is None or spec.origin is None else spec


def step_back() -> bool:
    """Load the vendor's package in place of softnpu's, and report it; False if there is none."""
    spec = vendors_spec()
    if spec is None or spec.loader is None:
        return False
    print(f"softnpu: torch_npu is the one in {spec.origin}, not softnpu's", file=sys.stderr)
    module = module_from_spec(spec)
    sys.modules["torch_npu"] = module
    spec.loader.exec_module(module)
    return True
