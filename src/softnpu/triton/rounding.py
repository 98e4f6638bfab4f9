# SPDX-License-Identifier: Apache-2.0
"""Rounding a computed value to the type of a result, once."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def widened(value, WORK: tl.constexpr):
    """Convert a loaded value to the formulas' type, which represents it exactly."""
    if value.dtype == tl.bfloat16:  # by its bits: the interpreter gets subnormal numbers wrong
        bits = value.to(tl.uint16, bitcast=True).to(tl.uint32) << 16
        return bits.to(tl.float32, bitcast=True).to(WORK)
    return value.to(WORK)


@triton.jit
def to_type(value, TYPE: tl.constexpr, RESULT: tl.constexpr):
    """Round to RESULT, the operator's result type, and convert to TYPE.

    Floating types round to nearest even; integers round toward zero and saturate. A DOUBLE result
    is a FLOAT one, widened.
    """
    if TYPE == tl.bfloat16:
        return _to_bfloat16(value)
    if TYPE.is_int():
        lowest: tl.constexpr = -(2 ** (TYPE.primitive_bitwidth - 1))
        inside = tl.minimum(tl.maximum(value, lowest), -1 - lowest)
        return inside.to(TYPE)
    return value.to(RESULT).to(TYPE)


@triton.jit
def _to_bfloat16(value):
    """Round by integer operations, with which the compiler and the interpreter agree."""
    if value.dtype == tl.float64:
        bits = _to_odd_float32(value)
    else:
        bits = value.to(tl.uint32, bitcast=True)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    quiet_nan = (bits >> 16) | 0x40
    return tl.where(value != value, quiet_nan, rounded).to(tl.uint16).to(tl.bfloat16, bitcast=True)


@triton.jit
def _to_odd_float32(value):
    """Return the bits of a float32 rounded to odd, so that a later rounding is the only one."""
    near = value.to(tl.float32)
    wide = near.to(tl.float64)
    bits = near.to(tl.uint32, bitcast=True)
    bits -= (tl.abs(wide) > tl.abs(value)).to(tl.uint32)
    return bits | ((wide != value) & (value == value)).to(tl.uint32)
