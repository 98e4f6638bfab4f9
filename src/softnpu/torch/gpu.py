# SPDX-License-Identifier: Apache-2.0
"""The operators for CUDA tensors: the core checks the contract, Triton kernels compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from softnpu import _core, errors

Kernel = Callable[..., Tensor]


def gpu_kernel(compute: Kernel, empty: Kernel | None = None) -> Kernel:
    """Create an operator's kernel for CUDA tensors.

    Parameters
    ----------
    compute : function
        Calls the operator's function in the module that it receives as ``kernels``.
    empty : function, optional
        Creates an empty tensor like the result; without it, the operator works in place.
    """

    def kernel(*arguments: Any, out: Tensor | None = None) -> Tensor:
        if empty is None:
            compute(*arguments, kernels=_core.checks)
            torch.autograd.graph.increment_version(arguments[0])
            return _computed(compute, *arguments)
        given = [_resolved(argument) for argument in arguments]
        compute(*given, out=out, kernels=_core.checks)
        if out is not None:
            torch.autograd.graph.increment_version(out)
        result = empty(*given) if out is None else out
        return _computed(compute, *given, out=result)

    return kernel


def check_indices() -> None:
    """Wait for the GPUs, and check for indices that were out of range.

    max_unpool3d and its gradient check themselves, except in a block of `deferred_index_checks` and
    in a CUDA graph: call this after a replay.

    Raises
    ------
    softnpu.IndexOutOfRangeError
        With the function, the position, and the value.
    """
    with _documented_errors():
        _triton().check_indices()


@contextmanager
def deferred_index_checks() -> Iterator[None]:
    """Defer the index checks of max_unpool3d and its gradient on GPUs, so that calls do not wait.

    The end of the block waits once for all calls of the process, and raises the error of the first
    that failed. Elements of a result whose index was out of range are 0.

    Raises
    ------
    softnpu.IndexOutOfRangeError
        With the function, the position, and the value.
    """
    with _documented_errors(), _triton().deferred_index_checks():
        yield


def _resolved(argument: Any) -> Any:
    """Resolve lazily negated tensors."""
    return argument.resolve_neg() if isinstance(argument, Tensor) else argument


def _computed(compute: Kernel, *arguments: Any, out: Tensor | None = None) -> Tensor:
    result = {} if out is None else {"out": out}
    if out is not None and out.numel() == 0:
        return out
    with _documented_errors():
        return compute(*arguments, **result, kernels=_triton())


@contextmanager
def _documented_errors() -> Iterator[None]:
    try:
        yield
    except IndexError as error:
        if not isinstance(error, _triton().WrongIndexError):
            raise
        raise errors.index_error_from_status(361001, str(error)) from None


def _triton() -> Any:
    try:
        import softnpu.triton
    except ModuleNotFoundError as error:
        if error.name != "triton":
            raise
        raise ImportError(
            "a CUDA tensor needs Triton, which is not installed: pip install 'softnpu[gpu]'"
        ) from None
    return softnpu.triton
