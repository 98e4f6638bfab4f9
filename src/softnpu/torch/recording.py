# SPDX-License-Identifier: Apache-2.0
"""How autograd records a call on each level of `torch.func`, and who else observes it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
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

_no_dispatch = torch._C._disabled_torch_dispatch_impl
_modes = torch._C._len_torch_dispatch_stack
_transform = torch._C._functorch.peek_interpreter_stack
_is_tracing = torch._C._is_tracing
_is_grad_enabled = torch.is_grad_enabled
_is_tangent_enabled = torch._C._is_fwd_grad_enabled
_below_autograd = torch._C._AutoDispatchBelowAutograd

Kernel = Callable[..., Tensor]
Gradients = tuple[Any, ...]
Save = Callable[[Any, tuple[Any, ...], Tensor], None]
Backward = Callable[[Any, Tensor], Gradients]
Jvp = Callable[..., Tensor]


def is_plain(*tensors: Tensor) -> bool:
    """Whether tensors have memory, and no mode or transform observes calls on them."""
    for tensor in tensors:
        if type(tensor) is not Tensor and type(tensor).__torch_dispatch__ is not _no_dispatch:
            return False
    return _modes() == 0 and _transform() is None and not _is_tracing()


def is_recorded(*tensors: Tensor) -> bool:
    """Whether autograd records calls on tensors, in forward or reverse mode."""
    if forward_ad._current_level >= 0:
        return True
    return _is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def has_derivative(tensor: Tensor) -> bool:
    """Whether a tensor requires grad, or has a tangent on this level."""
    if tensor.requires_grad and _is_grad_enabled():
        return True
    if forward_ad._current_level < 0 or not tensor.is_floating_point():
        return False
    return forward_ad.unpack_dual(tensor).tangent is not None


def meet_distributed() -> None:
    """Register the sharding rules, if the program has loaded DTensors."""
    if "torch.distributed.tensor" in sys.modules:
        import softnpu.torch.sharding  # noqa: F401


def tensors_of(operator: Any) -> Sequence[int]:
    """Find the tensors among the arguments."""
    kinds = [str(argument.type) for argument in operator._schema.arguments]
    return [place for place, kind in enumerate(kinds) if kind == "Tensor"]


def autograd_kernel(operator: Any, compute: Kernel, record: Kernel) -> Kernel:
    """Compute directly if nothing observes the call; otherwise record it.

    While PyTorch compiles, it cannot be determined whether a level of forward mode is active.
    """
    places = tensors_of(operator)

    def kernel(*arguments: Any) -> Tensor:
        # Like is_plain(), merged into one loop, because this dominates the cost of small calls.
        plain = _modes() == 0 and _transform() is None and forward_ad._current_level < 0
        for place in places:
            tensor = arguments[place]
            if tensor.requires_grad and _is_grad_enabled():
                return record(*arguments)
            if type(tensor) is not Tensor:
                plain = plain and is_plain(tensor)
        return compute(*arguments) if plain else record(*arguments)

    return untraced(kernel)


def untraced(kernel: Kernel) -> Kernel:
    """Keep torch.compile out of a kernel: its graphs have calls of the operator instead."""
    skip = _FrameAction.SKIP
    set_code_exec_strategy(kernel.__code__, _FrameExecStrategy(skip, skip))
    return kernel


def _call_below(operator: Any, *arguments: Any) -> Tensor:
    """Call an operator below autograd: in a mode, a subclass, or the next transform."""
    meet_distributed()
    with _below_autograd():
        return operator(*arguments)


def below_autograd(operator: Any) -> Kernel:
    """Create a kernel that calls an operator below autograd."""
    return partial(_call_below, operator)


def recording(operator: Any, save: Save, backward: Backward, jvp: Jvp) -> Kernel:
    """Create a call that autograd records, with a name for printed graphs.

    The Function's first argument has the caller's settings of gradients and tangents, because its
    forward runs with both off. The outer transforms record the calls in it, each on its own level,
    and need these settings: under `torch.no_grad()` in the innermost function, none records.
    """

    def forward(modes: tuple[bool, bool] | None, *arguments: Any) -> Tensor:
        if modes is None:
            return _call_below(operator, *arguments)
        gradients, tangents = modes
        with torch.set_grad_enabled(gradients), forward_ad._set_fwd_grad_enabled(tangents):
            return _call_below(operator, *arguments)

    def setup(context: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        context.types = [getattr(argument, "dtype", None) for argument in inputs[1:]]
        save(context, inputs[1:], output)

    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(setup),
        "backward": staticmethod(_unpacking_once(backward)),
        "jvp": staticmethod(_on_primals(jvp)),
    }
    # An ordinary Function passes a call on to torch.func's transforms. A kernel is called below
    # them, once for each level, and only has to record the call there.
    function: Any = type(operator._schema.name.replace("::", "_"), (_SingleLevelFunction,), members)
    apply = function.apply

    def record(*arguments: Any) -> Tensor:
        if _transform() is None:
            return apply(None, *arguments)
        with enable_single_level_autograd_function():
            return apply((_is_grad_enabled(), _is_tangent_enabled()), *arguments)

    return record


def _unpacking_once(backward: Backward) -> Backward:
    """Read the saved tensors once for all parts of a rule, because checkpoints allow only one."""

    def rule(context: Any, gradient: Tensor) -> Gradients:
        saved = SimpleNamespace(
            **vars(context),
            saved_tensors=context.saved_tensors,
            needs_input_grad=context.needs_input_grad[1:],
        )
        return None, *backward(saved, gradient)

    return rule


def _on_primals(jvp: Jvp) -> Jvp:
    """Let outer transforms differentiate a tangent, but not this level.

    In PyTorch, a tensor of rank 0 that was multiplied by a Python number has a float64 tangent.
    """

    def rule(context: Any, _of_modes: None, *tangents: Any) -> Tensor:
        primals = [forward_ad.unpack_dual(t, level=0).primal for t in context.saved_tensors]
        saved = SimpleNamespace(**vars(context), saved_tensors=primals)
        with forward_ad._set_fwd_grad_enabled(True):
            own = zip(tangents, context.types, strict=True)
            return jvp(saved, *[t if t is None else t.to(dtype) for t, dtype in own])

    return rule
