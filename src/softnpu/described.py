# SPDX-License-Identifier: Apache-2.0
"""The operators that are data: everyday ones, and those that `softnpu build --operator` makes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from softnpu import _core

_PHASE_ONE = "GetWorkspaceSize"


def phase_names() -> list[str]:
    """List the functions of the C API."""
    return [f"{name}{end}" for name in _core.described_names() for end in (_PHASE_ONE, "")]


def phase(name: str) -> Callable[..., Any] | None:
    """Find a function of the C API, as `softnpu.aclnn` has it; None if there is none."""
    operator = name.removesuffix(_PHASE_ONE)
    if operator not in _core.described_names():
        return None
    function: Any = _phase_one(operator) if name != operator else _phase_two(operator)
    function.__name__ = function.__qualname__ = name
    function.__module__ = "softnpu.aclnn"
    return function  # type: ignore[no-any-return]


def _phase_one(operator: str) -> Callable[..., tuple[int, int]]:
    names = [name for name, *_ in _core.described_parameters(operator)]
    signature = Signature([Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in names])
    function = f"{operator}{_PHASE_ONE}"

    def phase_one(*args: Any, **kwargs: Any) -> tuple[int, int]:
        """Check and plan: (workspace size, executor)."""
        values = signature.bind(*args, **kwargs).args
        return _core.described_phase_one(function, operator, values)

    phase_one.__signature__ = signature  # type: ignore[attr-defined]
    return phase_one


def _phase_two(operator: str) -> Callable[..., None]:
    def phase_two(
        workspace: int | None,
        workspaceSize: int,  # noqa: N803  the documented name
        executor: int | None,
        stream: int | None,
    ) -> None:
        """Launch what phase one planned."""
        _core.described_phase_two(operator, workspace, workspaceSize, executor, stream)

    return phase_two


def load(library: Path, operator: str) -> Callable[..., Any]:
    """Load the library of an operator that `softnpu build --operator` made.

    Parameters
    ----------
    library : Path
    operator : str
        Its documented name, with ``aclnn``.

    Returns
    -------
    callable
        Takes the arguments in the documented order, arrays and numbers; None for the output asks
        for a new array.
    """
    ctypes.CDLL(str(library))
    return partial(_core.call_described, operator)
