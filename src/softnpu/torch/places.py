# SPDX-License-Identifier: Apache-2.0
"""Chooses the kernel of an operator by the devices of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor

Kernel = Callable[..., Tensor]

# The device that softnpu.torch.npu registers.
NPU = "npu"


def kernel_for(tensors: Iterable[Tensor], compute: Kernel, on_gpu: Kernel) -> Kernel:
    """Choose the kernel of an operator that writes to one of its arguments."""
    places = {tensor.device.type for tensor in tensors}
    if "cuda" in places:
        return on_gpu
    return partial(_over_device_memory, compute) if NPU in places else compute


def _over_device_memory(compute: Kernel, *arguments: Any, **out: Tensor) -> Tensor:
    """Compute on the device's memory, which the CPU can access."""
    written = out.get("out", arguments[0])
    others = [each for each in (*arguments, written) if isinstance(each, Tensor) and each.dim() > 0]
    if len({each.device for each in others}) > 1:
        places = ", ".join(str(each.device) for each in others)
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but they are on {places}"
        )
    before = torch.ops.softnpu_device.begin_work(written)
    result = compute(
        *[_on_cpu(argument) for argument in arguments],
        **{name: _on_cpu(tensor) for name, tensor in out.items()},
    )
    read = [each for each in arguments if isinstance(each, Tensor)]
    torch.ops.softnpu_device.end_work(f"softnpu::{compute.__name__}", read, written, before)
    torch.autograd.graph.increment_version(written)
    return result


def _on_cpu(argument: Any) -> Any:
    if isinstance(argument, Tensor) and argument.device.type == NPU:
        return torch.ops.softnpu_device.on_cpu(argument)
    return argument
