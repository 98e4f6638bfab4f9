# SPDX-License-Identifier: Apache-2.0
"""What ``import torch_npu`` gives: the device's module, the fused operators, a version."""

from __future__ import annotations

import sys
from typing import Any

import torch

import softnpu.torch.npu as npu
from softnpu.torch.npu import fused, names, optim, profiler, registration


def fill(name: str) -> None:
    """Give the module of that name what programs take from torch_npu."""
    module: Any = sys.modules[name]
    module.npu = npu
    module.__version__ = f"{torch.__version__.split('+')[0]}+softnpu"
    for each in fused.__all__:
        setattr(module, each, getattr(fused, each))
    module.profiler, module.optim = profiler, optim
    parts = {f"npu.{each}": getattr(npu, each) for each in registration.SUBMODULES}
    parts |= {"npu": npu, "optim": optim, "profiler": profiler}
    for its_name, part in parts.items():
        sys.modules[f"{name}.{its_name}"] = part
    for part, public in ((module, ""), (optim, ".optim"), (profiler, ".profiler")):
        names.explain(part, name + public)
    sys.meta_path.append(_Missing())


class _Missing:
    """Reports parts of torch_npu that a program imports and that softnpu does not have."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        """Raise for a name that no finder before has found."""
        package, _, part = name.rpartition(".")
        if package.split(".")[0] == "torch_npu":
            raise ModuleNotFoundError(names.text(sys.modules[package], package, part), name=name)
