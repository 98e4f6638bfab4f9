# SPDX-License-Identifier: Apache-2.0
"""Makes `npu` a device of this process's PyTorch."""

from __future__ import annotations

import sys
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any

import torch
from torch.utils import backend_registration

from softnpu.torch.npu import backend, cells, collectives, fused, names, operators
from softnpu.torch.vendors import vendors_spec

SUBMODULES = ("amp", "memory", "mstx", "profiler", "random", "streams")


def register(module: ModuleType) -> None:
    """Load the backend, name the device, and make ``module`` `torch.npu`."""
    other = vendors_spec()
    if other is not None:
        raise backend.BackendError(
            f"torch_npu is installed, {other.origin}; softnpu does not take its device npu"
        )
    backend.load()
    backend_registration.rename_privateuse1_backend("npu")
    torch._register_device_module("npu", module)
    operators.register()
    cells.register()
    collectives.register()


def finish(module: ModuleType) -> None:
    """Give tensors, modules and storages their methods, and `torch.npu` its submodules."""
    backend_registration.generate_methods_for_privateuse1_backend(
        for_tensor=True, for_module=True, for_packed_sequence=True, for_storage=True
    )
    _let_tensors_be_exchanged()
    _print_what_the_cpu_would()
    _refuse_sharing()
    _refuse_inductor()
    _offer_fused_operators()
    names.explain(module, "torch.npu")
    for name in SUBMODULES:
        sys.modules[f"torch.npu.{name}"] = getattr(module, name)
        names.explain(getattr(module, name), f"torch.npu.{name}")


def _offer_fused_operators() -> None:
    """Make them functions of `torch.ops.npu`, and some methods of tensors, too."""
    for name in fused.__all__:
        setattr(torch.ops.npu, name, getattr(fused, name))
    tensor: Any = torch.Tensor
    tensor.npu_format_cast, tensor.npu_dtype_cast = fused.npu_format_cast, fused.npu_dtype_cast


def _let_tensors_be_exchanged() -> None:
    """Give DLPack's name of the device, for which PyTorch looks under its name before."""
    of_others = torch.Tensor.__dlpack_device__

    def __dlpack_device__(self: torch.Tensor) -> Any:  # noqa: N807
        if self.device.type == "npu":
            return torch.utils.dlpack.DLDeviceType.kDLExtDev, self.device.index
        return of_others(self)

    torch.Tensor.__dlpack_device__ = __dlpack_device__  # type: ignore[method-assign]


def _print_what_the_cpu_would() -> None:
    """Format elements in float64, which the device does not have."""
    from torch import _tensor_str

    of_others = _tensor_str._tensor_str

    def formatted(tensor: torch.Tensor, indent: int) -> str:
        return of_others(tensor.cpu() if tensor.device.type == "npu" else tensor, indent)

    _tensor_str._tensor_str = formatted


def _refuse_sharing() -> None:
    """Say that other processes cannot use the device's memory."""

    def check(tensor: torch.Tensor) -> None:
        if tensor.device.type == "npu":
            raise RuntimeError(
                "softnpu's device npu has no tensors that processes share; send tensor.cpu()"
            )

    share = torch.Tensor.share_memory_
    reducers = ForkingPickler._extra_reducers  # type: ignore[attr-defined]

    def share_memory_(self: torch.Tensor) -> torch.Tensor:
        check(self)
        return share(self)

    def guarded(reduce: Any) -> Any:
        def reduced(tensor: torch.Tensor) -> Any:
            check(tensor)
            return reduce(tensor)

        return reduced

    torch.Tensor.share_memory_ = share_memory_  # type: ignore[method-assign]
    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, guarded(reducers[kind]))


def _refuse_inductor() -> None:
    """Say what `torch.compile` can do here, where it would end in a KeyError."""
    inductor: Any = torch._TorchCompileInductorWrapper
    of_others = inductor.__call__

    def compiled(self: Any, model: Any, inputs: Any) -> Any:
        if any(isinstance(t, torch.Tensor) and t.device.type == "npu" for t in inputs):
            raise RuntimeError(
                "Inductor generates no code for softnpu's device npu; "
                "use torch.compile(..., backend='aot_eager')"
            )
        return of_others(self, model, inputs)

    inductor.__call__ = compiled
