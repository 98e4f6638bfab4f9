# SPDX-License-Identifier: Apache-2.0
"""Registers softnpu's operators with PyTorch: one function, `define`, for all of them.

An operator is a schema, the function of the core that computes it, a fake kernel, and rules for
autograd and vmap. PyTorch calls the registered functions in this order: autocast, vmap, autograd
(`autograd_kernel`), then the CPU or the CUDA kernel or, without data, the fake one. Nested
transforms of `torch.func` repeat this for each of their levels.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import eq
from typing import Any

import torch
from torch import Tensor

from softnpu.errors import error_from_status, with_rule
from softnpu.torch import schemas
from softnpu.torch.fake import like_first
from softnpu.torch.gpu import gpu_kernel
from softnpu.torch.places import kernel_for
from softnpu.torch.recording import (
    Backward,
    Jvp,
    Kernel,
    Save,
    autograd_kernel,
    below_autograd,
    has_derivative,
    is_plain,
    is_recorded,
    recording,
    tensors_of,
    untraced,
)
from softnpu.torch.vmap import elementwise

LIBRARY = torch.library.Library("softnpu", "DEF")

# Tensors of these kinds also reach the core, which raises the error.
_REFUSED = ("MPS", "XPU", "SparseCPU", "SparseCsrCPU", "QuantizedCPU", "MkldnnCPU")

Vmap = Callable[..., tuple[Tensor, int]]
OutputTypes = Callable[[torch.dtype, torch.dtype], bool]


def define(
    name: str,
    *,
    save: Save,
    backward: Backward,
    jvp: Jvp,
    fake: Kernel = like_first,
    vmap: Vmap | None = None,
    autocast: torch.dtype | None = None,
    out_admits: OutputTypes = eq,
) -> Any:
    """Register ``softnpu::name`` and its ``out`` overload; return the packet of both.

    Parameters
    ----------
    name : str
        The operator's name; `softnpu.torch.schemas` has its arguments and its kernel.
    save, backward : function
        As `torch.library.register_autograd` takes them: `save` is its setup_context.
    jvp : function
        As `torch.autograd.Function` takes it: the result's tangent from those of the arguments.
    fake : function
        Creates an empty tensor like the result; by default, like the first argument.
    vmap : function
        As `torch.library.register_vmap` takes it; by default, that of elementwise operators.
    autocast : torch.dtype, optional
        The type to which floating arguments are cast under `torch.autocast`.
    out_admits : function
        Whether a result of one data type may be written to an ``out`` of another.

    Returns
    -------
    torch.ops.softnpu.name
    """
    arguments, compute = schemas.SCHEMAS[name], getattr(schemas, name)
    tags = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_fixed_stride_order)
    LIBRARY.define(f"{name}({arguments}) -> Tensor", tags=tags)
    LIBRARY.define(f"{name}.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)", tags=tags)
    packet = getattr(torch.ops.softnpu, name)
    on_gpu = gpu_kernel(compute, fake)
    for key in ("CPU", *_REFUSED):
        LIBRARY.impl(name, compute, key)
    LIBRARY.impl(name, on_gpu, "CUDA")
    torch.library.register_fake(
        f"softnpu::{name}", _fake_kernel(packet.default, compute, fake), lib=LIBRARY
    )
    torch.library.register_vmap(f"softnpu::{name}", vmap or elementwise(name), lib=LIBRARY)
    if autocast is not None:
        for device in ("cpu", "cuda"):
            torch.library.register_autocast(f"softnpu::{name}", device, autocast, lib=LIBRARY)
    record = recording(packet.default, save, backward, jvp)
    below = below_autograd(packet.default)
    of_keys = (("CPU", compute), ("CUDA", on_gpu), ("PrivateUse1", below))
    for key, kernel in of_keys:
        LIBRARY.impl(name, autograd_kernel(packet.default, kernel, record), f"Autograd{key}")
    out = _out_kernel(packet.default, compute, on_gpu, out_admits)
    _decompose(f"{name}.out", out)
    return packet


def _fake_kernel(operator: Any, compute: Kernel, fake: Kernel) -> Kernel:
    """Infer shapes in a fake tensor mode; outside of it, the core refuses meta tensors."""
    places = tensors_of(operator)

    def kernel(*arguments: Any) -> Tensor:
        outside = is_plain(*[arguments[place] for place in places])
        return (compute if outside else fake)(*arguments)

    return kernel


def define_in_place(name: str) -> Any:
    """Register ``softnpu::name_``, which overwrites its input with the result of ``softnpu::name``.

    If autograd records the call or PyTorch observes it, it copies the result of ``softnpu::name``,
    and thus has its derivatives.

    Parameters
    ----------
    name : str
        The name of the out-of-place operator, which must be defined already.

    Returns
    -------
    torch.ops.softnpu.name_
    """
    arguments, compute = schemas.SCHEMAS[f"{name}_"], getattr(schemas, f"{name}_")
    LIBRARY.define(f"{name}_(Tensor(a!) self{', ' * bool(arguments)}{arguments}) -> Tensor(a!)")
    operator = getattr(torch.ops.softnpu, name)
    on_gpu = gpu_kernel(compute)

    def kernel(self: Tensor, *rest: Any) -> Tensor:
        if is_recorded(self) or not is_plain(self):
            return self.copy_(operator(self.clone(), *rest))
        kernel_for((self,), compute, on_gpu)(_detached(self), *rest)
        return self

    _decompose(f"{name}_", untraced(kernel))
    return getattr(torch.ops.softnpu, f"{name}_")


def _decompose(name: str, kernel: Kernel) -> None:
    """Register a function that calls other operators, also for `torch.vmap` and `functionalize`."""
    for key in ("CompositeImplicitAutograd", "FuncTorchBatchedDecomposition", "Functionalize"):
        LIBRARY.impl(name, kernel, key)


def _out_kernel(operator: Any, compute: Kernel, on_gpu: Kernel, admits: OutputTypes) -> Kernel:
    """Write to ``out`` directly if PyTorch does not observe the call, else through a copy."""
    places = tensors_of(operator)
    name = operator._schema.name

    def kernel(*arguments: Any, out: Tensor) -> Tensor:
        tensors = [arguments[place] for place in places]
        if any(has_derivative(tensor) for tensor in (*tensors, out)):
            message = (
                f"{name}: a call with out= takes no part in autograd, but an argument requires "
                "grad or has a tangent; leave out= away, or call it outside of autograd, under "
                "torch.no_grad()"
            )
            raise with_rule(RuntimeError(message), rule="out-requires-grad")
        if not is_plain(*tensors, out):
            result = operator(*arguments)
            _check_output(name, result, out, admits)
            return out.copy_(result.reshape(out.shape))
        kernel_for((*tensors, out), compute, on_gpu)(*arguments, out=_detached(out))
        return out

    return untraced(kernel)


def _detached(output: Tensor) -> Tensor:
    """Detach a tensor that is written to, unless this would hide that it must not be.

    PyTorch allows writes to tensors that were detached from a tensor of inference mode.
    """
    refused = output.is_inference() and not torch.is_inference_mode_enabled()
    return output if refused else output.detach()


def _check_output(name: str, result: Tensor, out: Tensor, admits: OutputTypes) -> None:
    """Refuse the same tensors as the core, which does not see them if the result is copied."""
    if not admits(result.dtype, out.dtype):
        message = f"{name}: out has data type {out.dtype}, which cannot hold {result.dtype}"
        raise error_from_status(161002, message, rule="dtype-differs")
    if out.shape != result.shape and (result.dim() > 0 or out.shape != (1,)):
        message = (
            f"{name}: out has shape {list(out.shape)}, but the result has shape "
            f"{list(result.shape)}; they must be equal"
        )
        raise error_from_status(161002, message, rule="shape-differs")
