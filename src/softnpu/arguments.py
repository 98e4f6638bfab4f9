# SPDX-License-Identifier: Apache-2.0
"""Types for the signatures of the functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsFloat, SupportsIndex, TypeVar

if TYPE_CHECKING:
    from numpy import bool_, dtype, generic, integer

__all__ = ["Array", "ArrayT", "Flag", "Number", "Operand", "Reduction", "Sizes"]


class Array(Protocol):
    """A NumPy array, a PyTorch tensor on the CPU, or any object on the CPU that speaks DLPack.

    NumPy's bfloat16 is ``ml_dtypes.bfloat16``. NumPy's scalars count as arrays of rank 0, but are
    refused as ``out``; its masked arrays are always refused. Inputs are read in place whatever
    their strides; only one that is not aligned to its data type is copied first.
    """

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        """Export the array."""


ArrayT = TypeVar("ArrayT", bound=Array)
Number = SupportsFloat | SupportsIndex
Reduction = SupportsIndex | Literal["none", "mean", "sum"]
Sizes = Sequence[SupportsIndex] | Array
if TYPE_CHECKING:
    Operand = Array | generic
    Flag = int | bool_ | integer[Any]
    ScalarT = TypeVar("ScalarT", bound=generic)
    ShapeT = TypeVar("ShapeT", bound=tuple[Any, ...])
    DTypeT = TypeVar("DTypeT", bound=dtype[Any])
else:
    # NumPy is not loaded just for names.
    Operand = Array
    Flag = int
