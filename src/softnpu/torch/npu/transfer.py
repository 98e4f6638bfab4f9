# SPDX-License-Identifier: Apache-2.0
"""torch_npu.contrib.transfer_to_npu: programs for GPUs, on the device `npu`.

Importing it lets "cuda" mean "npu" in calls of PyTorch on this thread, `torch.cuda` give
`torch.npu`'s functions, and "nccl" mean "hccl".
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map


def _renamed(value: Any) -> Any:
    if type(value) is torch.device and value.type == "cuda":
        return torch.device("npu", value.index) if value.index is not None else torch.device("npu")
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return "npu" + value[4:]
    return value


class _Transfer(TorchFunctionMode):
    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        args, kwargs = tree_map(_renamed, (args, kwargs or {}))
        return func(*args, **kwargs)


def transfer() -> None:
    """Let names of GPUs mean NPUs from now on, in this thread."""
    npu: Any = torch.npu  # type: ignore[attr-defined]
    _replace(torch.cuda, npu)
    torch.cuda.CUDAGraph = npu.NPUGraph  # type: ignore[misc]
    tensor: Any = torch.Tensor
    tensor.cuda, tensor.is_cuda = tensor.npu, tensor.is_npu
    module: Any = torch.nn.Module
    module.cuda = module.npu
    # Python code that asks for the device before the mode sees a call.
    for owner, method in (
        (module, "to"),
        (torch.amp.autocast, "__init__"),
        (torch.amp.GradScaler, "__init__"),
        (torch.amp, "custom_fwd"),
        (torch.amp, "custom_bwd"),
    ):
        _rename_devices(owner, method)
    _rename_backend_of_groups()
    _Transfer().__enter__()


def _replace(old: Any, new: Any) -> None:
    """Take the values of a module over; its submodules stay, since PyTorch's own code uses more."""
    for name in dir(new):
        if name.startswith("_") or not hasattr(old, name):
            continue
        value = getattr(new, name)
        if not isinstance(value, ModuleType):
            setattr(old, name, value)
        elif value.__name__.startswith("softnpu.torch.npu."):
            _replace(getattr(old, name), value)


def _rename_devices(owner: Any, name: str) -> None:
    function = getattr(owner, name)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree_map(_renamed, (args, kwargs))
        return function(*args, **kwargs)

    setattr(owner, name, call)


def _rename_backend_of_groups() -> None:
    if not torch.distributed.is_available():
        return
    initialize = torch.distributed.init_process_group

    @functools.wraps(initialize)
    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        return initialize("hccl" if backend == "nccl" else backend, *args, **kwargs)

    torch.distributed.init_process_group = init_process_group
