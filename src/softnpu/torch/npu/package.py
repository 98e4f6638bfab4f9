# SPDX-License-Identifier: Apache-2.0
"""What ``import torch_npu`` gives: the device's module, the fused operators, a version."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import torch

import softnpu.torch.npu as npu
from softnpu.torch.npu import fused, profiler


def fill(name: str) -> None:
    """Give the module of that name what programs take from torch_npu."""
    module: Any = sys.modules[name]
    module.npu = npu
    module.__version__ = f"{torch.__version__.split('+')[0]}+softnpu"
    for each in fused.__all__:
        setattr(module, each, getattr(fused, each))
    module.profiler = profiler
    module.__getattr__ = _missing
    for part, its_name in ((npu, "npu"), (profiler, "profiler"), (npu.amp, "npu.amp")):
        sys.modules[f"{name}.{its_name}"] = part


def _missing(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    module = sys.modules["torch_npu"]
    known = sorted(each for each in vars(module) if not each.startswith("_"))
    raise AttributeError(f"softnpu has no torch_npu.{name}; it has: {', '.join(known)}")
