// SPDX-License-Identifier: Apache-2.0
// exp for results that are rounded to float32 or less, as plain code that compilers vectorise.
#pragma once

#include <bit>
#include <cstdint>

#include "loops/lanes.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// a · b + c: one rounding where the machine can, two elsewhere. Only for values whose last bit
// does not matter.
SOFTNPU_INLINE double multiply_add(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// exp(t) with a relative error below 2^-34, over float64's whole range of t except that results
// below 2^-1021 come out as 0 or as about 2^-1022: far below all that a float32 can use.
SOFTNPU_INLINE double exp_for_float(double t) {
  const double low = -708.0, high = 710.0;  // e^710 overflows to infinity, as it should
  double x = t < low ? low : t;
  x = x > high ? high : x;
  // x = n · ln 2 + r. Adding 1.5 · 2^52 rounds to an integer and leaves it in the low bits.
  const double shift = 0x1.8p52;
  const double shifted = multiply_add(x, 0x1.71547652b82fep0, shift);
  const double n = shifted - shift;
  const double r = multiply_add(n, -0x1.62e42fefa39efp-1, x);
  // Minimax polynomial on |r| <= ln 2 / 2, relative error 2^-34.5.
  double p = 0x1.9eb714a54f9cfp-13;
  p = multiply_add(p, r, 0x1.6da4c0c179f1cp-10);
  p = multiply_add(p, r, 0x1.1112fa5c2d77ap-7);
  p = multiply_add(p, r, 0x1.5554685988451p-5);
  p = multiply_add(p, r, 0x1.55555343b339dp-3);
  p = multiply_add(p, r, 0x1.00000059d969dp-1);
  p = multiply_add(p, r, 0x1.000000010b7f9p+0);
  p = multiply_add(p, r, 0x1.ffffffffababdp-1);
  const int64_t exponent = std::bit_cast<int64_t>(shifted) + 1023;  // its high bits shift out
  const double power = std::bit_cast<double>(exponent << 52);
  // exp of anything below is 0 in float64; a NaN has come through the polynomial.
  return t < -745.2 ? 0.0 : p * power;
}

// factor · exp(x) in float32 for -87 < x <= 0, within 1 unit in the last place where the result is
// normal. V is float or Lanes.
template <class V>
SOFTNPU_INLINE V scaled_exp(V x, float factor) {
  const V shift = splat<V>(0x1.8p23f);
  const V shifted = fused(x, splat<V>(0x1.715476p+0f), shift);
  const V n = shifted - shift;
  // ln 2 in two parts: the first has 15 bits, so that its product with n is exact.
  const V near = fused(n, splat<V>(-0x1.62e4p-1f), x);
  const V r = fused(n, splat<V>(-0x1.7f7d1cp-20f), near);
  V q = splat<V>(0x1.6a2352p-10f);
  q = fused(q, r, splat<V>(0x1.123a6cp-7f));
  q = fused(q, r, splat<V>(0x1.5558f4p-5f));
  q = fused(q, r, splat<V>(0x1.55549p-3f));
  q = fused(q, r, splat<V>(0x1.fffffcp-2f));
  // factor · (1 + r + q · r²), where the factor enters with the last rounding.
  const V p = fused(fused(r * r, q, r), splat<V>(factor), splat<V>(factor));
  return p * power_of_two(shifted);
}

SOFTNPU_LEVEL_END
