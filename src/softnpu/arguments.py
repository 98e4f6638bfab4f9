# SPDX-License-Identifier: Apache-2.0
"""What the signatures of the functions are made of, and the short way past them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, SupportsFloat, SupportsIndex, TypeVar

from softnpu import _core

if TYPE_CHECKING:
    from numpy import generic

__all__ = ["Array", "ArrayT", "Number", "Operand", "Sizes", "short_cut"]


class Array(Protocol):
    """A NumPy array, a PyTorch tensor on the CPU, or any object on the CPU that speaks DLPack.

    NumPy's bfloat16 is ``ml_dtypes.bfloat16``; its scalars count as arrays of rank 0, its masked
    arrays are read without their mask. Inputs are read in place whatever their strides; only one
    that is not aligned to its data type is copied first.
    """

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        """Export the array."""


ArrayT = TypeVar("ArrayT", bound=Array)
Number = SupportsFloat | SupportsIndex
Sizes = Sequence[SupportsIndex] | Array
if TYPE_CHECKING:
    Operand = Array | generic
else:
    # NumPy is not loaded for the sake of a name.
    Operand = Array
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def short_cut(native: Callable[..., Any]) -> Callable[[FunctionT], FunctionT]:
    """Let calls of a function go straight to the native one that it passes its parameters on to.

    Running the function itself takes up to a sixth of a small call.
    """
    return partial(_core.keyword_function, native)
