// SPDX-License-Identifier: Apache-2.0
// The storage types of elements, and their conversion to the types that formulas compute in.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// The 16-bit floats have distinct types.
struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};
template <class T>
struct Complex {
  T re, im;
};

SOFTNPU_INLINE float widen(float v) { return v; }
SOFTNPU_INLINE double widen(double v) { return v; }
SOFTNPU_INLINE float widen(f16 v) { return half_to_float(v.bits); }
SOFTNPU_INLINE float widen(bf16 v) { return bfloat_to_float(v.bits); }

// Which NaN an operation returns depends on the order of its operands, which compilers choose
// differently in the body and the tail of a loop. One quiet NaN replaces all.
SOFTNPU_INLINE float one_nan(float v) { return v == v ? v : __builtin_nanf(""); }
SOFTNPU_INLINE double one_nan(double v) { return v == v ? v : __builtin_nan(""); }

SOFTNPU_LEVEL_END
