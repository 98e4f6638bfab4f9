# SPDX-License-Identifier: Apache-2.0
"""What ``import torch_npu`` gives: the device's module, the fused operators, a version."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import torch

import softnpu.torch.npu as npu
from softnpu.torch.npu import fused, optim, profiler


def fill(name: str) -> None:
    """Give the module of that name what programs take from torch_npu."""
    module: Any = sys.modules[name]
    module.npu = npu
    module.__version__ = f"{torch.__version__.split('+')[0]}+softnpu"
    for each in fused.__all__:
        setattr(module, each, getattr(fused, each))
    module.profiler, module.optim = profiler, optim
    module.__getattr__ = _missing
    parts = {"npu": npu, "npu.amp": npu.amp, "optim": optim, "profiler": profiler}
    for its_name, part in parts.items():
        sys.modules[f"{name}.{its_name}"] = part


def _missing(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    module = sys.modules["torch_npu"]
    known = sorted(each for each in vars(module) if not each.startswith("_"))
    raise AttributeError(f"softnpu has no torch_npu.{name}; it has: {', '.join(known)}")
