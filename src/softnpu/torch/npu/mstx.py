# SPDX-License-Identifier: Apache-2.0
"""torch.npu.mstx: marks and ranges of the program, in the trace of `torch_npu.profiler`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, TypeVar

from torch.profiler import record_function

Function = TypeVar("Function", bound=Callable[..., Any])

_numbers = itertools.count(1)
_ranges: dict[int, record_function] = {}


def mark(message: str, stream: Any = None, domain: str = "default") -> None:  # noqa: ARG001
    """Mark this moment."""
    with record_function(message):
        pass


def range_start(message: str, stream: Any = None, domain: str = "default") -> int:  # noqa: ARG001
    """Start a range and return its number."""
    number = next(_numbers)
    _ranges[number] = record_function(message)
    _ranges[number].__enter__()
    return number


def range_end(range_id: int, domain: str = "default") -> None:  # noqa: ARG001
    """End the range of that number."""
    if range_id in _ranges:
        _ranges.pop(range_id).__exit__(None, None, None)


def mstx_range(
    message: str,
    stream: Any = None,  # noqa: ARG001
    domain: str = "default",  # noqa: ARG001
) -> Callable[[Function], Function]:
    """Make each call of a function a range."""

    def decorated(function: Function) -> Function:
        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            with record_function(message):
                return function(*arguments, **options)

        return call  # type: ignore[return-value]

    return decorated
