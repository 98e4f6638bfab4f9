# SPDX-License-Identifier: Apache-2.0
"""How softnpu's operators become PyTorch's: one function, `define`, for all of them.

An operator is a schema, the function of the core that computes it, a fake kernel, and rules for
autograd and vmap. PyTorch calls what is registered here in this order: autocast, vmap, autograd
(`_autograd_kernel`), then the CPU or the CUDA kernel or, where there is no data, the fake one.
Nested transforms of `torch.func` go through this once for each of their levels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import eq
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch._C._dynamo.eval_frame import (
    _FrameAction,
    _FrameExecStrategy,
    set_code_exec_strategy,
)
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

from softnpu.errors import error_from_status, with_rule
from softnpu.torch.gpu import gpu_kernel

LIBRARY = torch.library.Library("softnpu", "DEF")

# Tensors of these kinds reach the core, too, which says what it expects instead.
_REFUSED = ("MPS", "XPU", "SparseCPU", "SparseCsrCPU", "QuantizedCPU", "MkldnnCPU")

_no_dispatch = torch._C._disabled_torch_dispatch_impl
_modes = torch._C._len_torch_dispatch_stack
_transform = torch._C._functorch.peek_interpreter_stack
_is_tracing = torch._C._is_tracing
_is_grad_enabled = torch.is_grad_enabled
_below_autograd = torch._C._AutoDispatchBelowAutograd

Kernel = Callable[..., Tensor]
Gradients = tuple[Any, ...]
Save = Callable[[Any, tuple[Any, ...], Tensor], None]
Backward = Callable[[Any, Tensor], Gradients]
Jvp = Callable[..., Tensor]
Vmap = Callable[..., tuple[Tensor, int]]
OutputTypes = Callable[[torch.dtype, torch.dtype], bool]


def define(
    name: str,
    arguments: str,
    *,
    compute: Kernel,
    fake: Kernel,
    save: Save,
    backward: Backward,
    jvp: Jvp,
    vmap: Vmap,
    autocast: torch.dtype | None = None,
    out_admits: OutputTypes = eq,
) -> Any:
    """Register ``softnpu::name`` and its ``out`` overload; give the packet of both.

    Parameters
    ----------
    name : str
    arguments : str
        The schema's arguments, in the documented order.
    compute : function
        Computes on CPU tensors; its parameter ``out`` is None or the tensor to write to, and
        ``kernels`` the module whose function computes, instead of the core's.
    fake : function
        Makes an empty tensor like the result.
    save, backward : function
        As `torch.library.register_autograd` takes them: `save` is its setup_context.
    jvp : function
        As `torch.autograd.Function` takes it: the result's tangent from those of the arguments.
    vmap : function
        As `torch.library.register_vmap` takes it.
    autocast : torch.dtype, optional
        The type that floating arguments are cast to under `torch.autocast`.
    out_admits : function
        Whether a result of one data type may be written to an ``out`` of another.

    Returns
    -------
    torch.ops.softnpu.name
    """
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
    torch.library.register_vmap(f"softnpu::{name}", vmap, lib=LIBRARY)
    if autocast is not None:
        for device in ("cpu", "cuda"):
            torch.library.register_autocast(f"softnpu::{name}", device, autocast, lib=LIBRARY)
    record = _recording(packet.default, save, backward, jvp)
    for key, kernel in (("AutogradCPU", compute), ("AutogradCUDA", on_gpu)):
        LIBRARY.impl(name, _autograd_kernel(packet.default, kernel, record), key)
    out = _out_kernel(packet.default, compute, on_gpu, out_admits)
    _decompose(f"{name}.out", out)
    return packet


def is_plain(*tensors: Tensor) -> bool:
    """Whether tensors have memory, and no mode or transform sees what is called on them."""
    for tensor in tensors:
        if type(tensor) is not Tensor and type(tensor).__torch_dispatch__ is not _no_dispatch:
            return False
    return _modes() == 0 and _transform() is None and not _is_tracing()


def is_recorded(*tensors: Tensor) -> bool:
    """Whether autograd records what is called on tensors, forward or in reverse."""
    if forward_ad._current_level >= 0:
        return True
    return _is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def meet_distributed() -> None:
    """Register the sharding rules, if the program has loaded what they are for."""
    if "torch.distributed.tensor" in sys.modules:
        import softnpu.torch.sharding  # noqa: F401


def _tensors(operator: Any) -> Sequence[int]:
    """Find the tensors among the arguments."""
    kinds = [str(argument.type) for argument in operator._schema.arguments]
    return [place for place, kind in enumerate(kinds) if kind == "Tensor"]


def _fake_kernel(operator: Any, compute: Kernel, fake: Kernel) -> Kernel:
    """Infer shapes in a fake tensor mode; let the core refuse meta tensors outside of one."""
    places = _tensors(operator)

    def kernel(*arguments: Any) -> Tensor:
        outside = is_plain(*[arguments[place] for place in places])
        return (compute if outside else fake)(*arguments)

    return kernel


def _autograd_kernel(operator: Any, compute: Kernel, record: Kernel) -> Kernel:
    """Compute at once where nobody watches; record everything else, which costs little there.

    Whether a level of forward mode is active cannot be asked while PyTorch compiles.
    """
    places = _tensors(operator)

    def kernel(*arguments: Any) -> Tensor:
        # As is_plain(), in one loop with the rest: this is most of what a small call costs.
        plain = _modes() == 0 and _transform() is None and forward_ad._current_level < 0
        for place in places:
            tensor = arguments[place]
            if tensor.requires_grad and _is_grad_enabled():
                return record(*arguments)
            if type(tensor) is not Tensor:
                plain = plain and is_plain(tensor)
        return compute(*arguments) if plain else record(*arguments)

    return _untraced(kernel)


def _untraced(kernel: Kernel) -> Kernel:
    """Keep torch.compile out of a kernel and what it calls: a graph has calls of the operator."""
    set_code_exec_strategy(
        kernel.__code__, _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP)
    )
    return kernel


def _call_below(operator: Any, *arguments: Any) -> Tensor:
    """Call an operator on what lies below autograd: a mode, a subclass, the next transform."""
    meet_distributed()
    with _below_autograd():
        return operator(*arguments)


def _recording(operator: Any, save: Save, backward: Backward, jvp: Jvp) -> Kernel:
    """Make a call that autograd records, named for what prints the graph."""

    def forward(*arguments: Any) -> Tensor:
        if _transform() is None:
            return _call_below(operator, *arguments)
        # A Function's forward runs with autograd off. The transforms further out record what it
        # calls, each on its own level, so they need autograd on.
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
            return _call_below(operator, *arguments)

    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(save),
        "backward": staticmethod(_unpacking_once(backward)),
        "jvp": staticmethod(_on_primals(jvp)),
    }
    # An ordinary Function hands a call over to torch.func's transforms. A kernel is called below
    # them, once for each of their levels, and only has to record it there.
    function: Any = type(operator._schema.name.replace("::", "_"), (_SingleLevelFunction,), members)
    apply = function.apply

    def record(*arguments: Any) -> Tensor:
        if _transform() is None:
            return apply(*arguments)
        with enable_single_level_autograd_function():
            return apply(*arguments)

    return record


def _unpacking_once(backward: Backward) -> Backward:
    """Read the saved tensors once for all parts of a rule; checkpoints allow no more."""

    def rule(context: Any, gradient: Tensor) -> Gradients:
        saved = SimpleNamespace(
            **vars(context),
            saved_tensors=context.saved_tensors,
            needs_input_grad=context.needs_input_grad,
        )
        return backward(saved, gradient)

    return rule


def _on_primals(jvp: Jvp) -> Jvp:
    """Let the transforms further out differentiate a tangent, and this level leave it alone."""

    def rule(context: Any, *tangents: Any) -> Tensor:
        primals = [forward_ad.unpack_dual(t, level=0).primal for t in context.saved_tensors]
        saved = SimpleNamespace(**vars(context), saved_tensors=primals)
        with forward_ad._set_fwd_grad_enabled(True):
            return jvp(saved, *tangents)

    return rule


def define_in_place(name: str, arguments: str, *, compute: Kernel) -> Any:
    """Register ``softnpu::name_``, which writes what ``softnpu::name`` computes over its input.

    Where autograd records, or somebody watches, it copies the result of the latter, which brings
    its derivatives along.

    Parameters
    ----------
    name : str
        That of the operator with a result of its own, which has been defined.
    arguments : str
        The schema's arguments after the first.
    compute : function
        Computes on a tensor in place; its parameter ``kernels`` is as `define` has it.

    Returns
    -------
    torch.ops.softnpu.name_
    """
    LIBRARY.define(f"{name}_(Tensor(a!) self{', ' * bool(arguments)}{arguments}) -> Tensor(a!)")
    operator = getattr(torch.ops.softnpu, name)
    on_gpu = gpu_kernel(compute)

    def kernel(self: Tensor, *rest: Any) -> Tensor:
        if is_recorded(self) or not is_plain(self):
            return self.copy_(operator(self.clone(), *rest))
        (on_gpu if self.is_cuda else compute)(self.detach(), *rest)
        return self

    _decompose(f"{name}_", _untraced(kernel))
    return getattr(torch.ops.softnpu, f"{name}_")


def _decompose(name: str, kernel: Kernel) -> None:
    """Register what calls other operators, also under `torch.vmap`."""
    for key in ("CompositeImplicitAutograd", "FuncTorchBatchedDecomposition"):
        LIBRARY.impl(name, kernel, key)


def _out_kernel(operator: Any, compute: Kernel, on_gpu: Kernel, admits: OutputTypes) -> Kernel:
    """Write to ``out`` directly where nobody watches, else through a copy."""
    places = _tensors(operator)
    name = operator._schema.name

    def kernel(*arguments: Any, out: Tensor) -> Tensor:
        tensors = [arguments[place] for place in places]
        if is_recorded(*tensors, out):
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
        (on_gpu if any(t.is_cuda for t in (*tensors, out)) else compute)(
            *arguments, out=out.detach()
        )
        return out

    return _untraced(kernel)


def _check_output(name: str, result: Tensor, out: Tensor, admits: OutputTypes) -> None:
    """Refuse what the core would: it sees neither tensor where the result is copied."""
    if not admits(result.dtype, out.dtype):
        message = f"{name}: out has data type {out.dtype}, which cannot hold {result.dtype}"
        raise error_from_status(161002, message, rule="dtype-differs")
    if out.shape != result.shape and (result.dim() > 0 or out.shape != (1,)):
        message = (
            f"{name}: out has shape {list(out.shape)}, but the result has shape "
            f"{list(result.shape)}; they must be equal"
        )
        raise error_from_status(161002, message, rule="shape-differs")
