# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators that softnpu has by a documented contract: on the device it decides.

What the contract does not admit is an error, as on an NPU. With ``SOFTNPU_TORCH_FALLBACK=1``
PyTorch computes it instead, with a warning for each operator.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import torch
from torch import Tensor

from softnpu.errors import AclnnError
from softnpu.torch import patching

_ATEN = torch.library.Library("aten", "IMPL")
_warned: set[str] = set()


def _falls_back() -> bool:
    return (
        os.environ.get("SOFTNPU_TORCH_FALLBACK") == "1"
        and os.environ.get("TORCH_NPU_FALLBACK_CPU_DISABLE") != "1"
    )


def _kernel(operator: Any, route: Any) -> Any:
    def kernel(*arguments: Any, **options: Any) -> Any:
        try:
            return route(*arguments, **options)
        except patching.NotRoutedError:  # PyTorch's operator is wider than the documented one
            return _by_pytorch(operator, arguments, options)
        except AclnnError as error:
            if not _falls_back():
                raise
            _warn(operator, error)
            return _by_pytorch(operator, arguments, options)

    return kernel


def _warn(operator: Any, error: AclnnError) -> None:
    name = str(operator)
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"{name} is computed by PyTorch, as the product does not have it: {error}",
            stacklevel=3,
        )


def _by_pytorch(operator: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call PyTorch's own kernel on the CPU, over the same memory."""

    def on_cpu(argument: Any) -> Any:
        is_npu = isinstance(argument, Tensor) and argument.device.type == "npu"
        return torch.ops.softnpu_device.on_cpu(argument) if is_npu else argument

    result = operator(*map(on_cpu, arguments), **{k: on_cpu(v) for k, v in options.items()})
    written = options.get("out")
    if operator._schema.name.endswith("_"):
        written = arguments[0]
    return result.to("npu") if written is None else written


def register() -> None:
    """Let softnpu decide on its operators, and the CPU compute the others."""
    decided = {each: route for each, route in patching.ROUTES.items() if not _is_composed(each)}
    torch.ops.softnpu_device.prefer_cpu_kernels([_name(operator) for operator in decided])
    for operator, route in decided.items():
        _ATEN.impl(operator, _kernel(operator, route), "PrivateUse1")


def _is_composed(operator: Any) -> bool:
    """Whether PyTorch makes it of another one, and autograd sees that."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(
        operator.name(), "CompositeImplicitAutograd"
    )


def _name(operator: Any) -> str:
    schema = operator._schema
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
