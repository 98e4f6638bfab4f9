# SPDX-License-Identifier: Apache-2.0
"""What one case is, and the classes and sizes that all cases are sorted into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from softnpu.bench.arrays import Arrays

ELU_EXP = "elu with exp, contiguous"
ELU_RESULT = "elu from result, selu, contiguous"
SMOOTH = "smooth_l1, contiguous and broadcast"
ELU_STRIDED = "elu, selu strided"
SMOOTH_STRIDED = "smooth_l1 strided"
LOSS = "smooth_l1 loss, contiguous and broadcast"
LOSS_STRIDED = "smooth_l1 loss, strided"
OUTPUTS = "outputs strided"
MIXED = "mixed types"
UPSAMPLE = "upsample NCDHW"
UPSAMPLE_LAST = "upsample NDHWC"
UPSAMPLE_FORWARD = "upsample forward"
GATHER = "gather"
SCATTER = "scatter"
FORWARD_ELU = "elu, selu forward"
ALLOCATING = "allocating"
CALL = "call"
CLASSES = (
    ELU_EXP,
    ELU_RESULT,
    SMOOTH,
    ELU_STRIDED,
    SMOOTH_STRIDED,
    LOSS,
    LOSS_STRIDED,
    OUTPUTS,
    MIXED,
    UPSAMPLE,
    UPSAMPLE_LAST,
    UPSAMPLE_FORWARD,
    GATHER,
    SCATTER,
    FORWARD_ELU,
    ALLOCATING,
    CALL,
)

# In the order of their size; every case is near one of them.
SIZES = {
    "16": 16,
    "1K": 1 << 10,
    "16K": 1 << 14,
    "64K": 1 << 16,
    "256K": 1 << 18,
    "1M": 1 << 20,
    "4M": 1 << 22,
    "8M": 1 << 23,
    "16M": 1 << 24,
    "64M": 1 << 26,
    "256M": 1 << 28,
}
GRID = ("1K", "64K", "1M", "16M")

Call = Callable[[], Any]


@dataclass(frozen=True)
class Prepared:
    """One case with its arrays: softnpu's call and, where there is one, the peer's.

    Both give their result; where both write the same output, they do so one after the other.
    """

    softnpu: Call
    peer: Call | None = None
    out: Any = None
    # Gives the inputs other values, so that no processor learns what branches on them will do.
    renew: Call | None = None
    # A call that times itself, for what Python cannot call directly: seconds for n calls.
    softnpu_timed: Callable[[int], float] | None = None


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    group: str
    operator: str
    variant: str
    dtype: str
    layout: str
    size: str
    elements: int
    # Each element of the inputs that is read, once, and of the output, once; 0 for calls.
    bytes: int
    prepare: Callable[[Arrays], Prepared]
    # Room for the arrays, when it is more than the bytes that are moved.
    footprint: int = 0
    needs_torch: bool = False

    @property
    def id(self) -> str:
        """A name for people, for filters, and for comparing one run with another."""
        words = (self.operator, self.variant, self.dtype, self.layout, self.size)
        return "/".join(word for word in words if word)

    @property
    def memory(self) -> int:
        """Bytes of memory that the case needs."""
        return max(self.footprint, 2 * self.bytes if self.layout == "sliced" else self.bytes)
