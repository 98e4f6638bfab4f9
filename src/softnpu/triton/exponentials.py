# SPDX-License-Identifier: Apache-2.0
"""exp and expm1 for results of 16 bits and of FLOAT.

In float64, the compiler's functions are accurate enough. In float32 they are not: exp multiplies by
log2(e) first, so that its error grows with x, and flushes subnormal results.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def wide_expm1(x):
    """Compute exp(x) - 1 in float64, with more bits than float32 has."""
    return tl.where(tl.abs(x) < 1e-5, x * (1 + x * 0.5), tl.exp(x) - 1)


@triton.jit
def narrow_parts(x):
    """Split exp(x) for x up to 0, in float32: 1 + p, and the exponent k of its factor 2**k."""
    x = tl.where(x < -200.0, -200.0, x)
    k = tl.floor(tl.fma(x, 1.4426950408889634, 0.5))
    # ln 2 in two parts; the first has 8 bits, so that its product with k is exact. Both are
    # positive, so that -0 stays -0.
    r = tl.fma(k, -0.69140625, x) - k * 0.0017409305599453094
    p = tl.fma(r, 1.0 / 5040, 1.0 / 720)
    p = tl.fma(r, p, 1.0 / 120)
    p = tl.fma(r, p, 1.0 / 24)
    p = tl.fma(r, p, 1.0 / 6)
    p = tl.fma(r, p, 0.5)
    return r * tl.fma(r, p, 1.0), k


@triton.jit
def power_of_two(k):
    """Return 2**k in float32, for integers k from -126 to 127; NaN counts as 0."""
    whole = tl.where(k == k, k, 0.0).to(tl.int32)
    return ((whole + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def narrow_expm1(x):
    """Compute exp(x) - 1 in float32 for x up to 0."""
    p, k = narrow_parts(x)
    factor = power_of_two(tl.where(k < -126.0, -126.0, k))
    return tl.where(k == 0.0, p, p * factor + (factor - 1))
