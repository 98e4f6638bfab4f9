# SPDX-License-Identifier: Apache-2.0
"""Shared code of the operators' autograd rules: saved tensors, and forward-mode tangents."""

from __future__ import annotations

from typing import Any

from torch import Tensor


def keep(context: Any, *tensors: Tensor) -> None:
    """Save tensors for both modes, as ``context.saved_tensors``."""
    context.save_for_backward(*tensors)
    context.save_for_forward(*tensors)


def total(*parts: Tensor | None) -> Tensor:
    """Add up the contributions of the arguments with a tangent; there is at least one."""
    given = [part for part in parts if part is not None]
    result = given[0]
    for part in given[1:]:
        result = result + part
    return result
