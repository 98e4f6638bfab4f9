// SPDX-License-Identifier: Apache-2.0
// exp for results that are rounded to float32 or less, as plain code that compilers vectorise.
#pragma once

#include <bit>
#include <cstdint>

#include "loops/lanes.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// a · b + c: one rounding with an FMA instruction, two without. Only for values whose last bit does
// not matter.
SOFTNPU_INLINE double multiply_add(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// exp(t) with a relative error below 2^-34 for all float64 values of t. Results below 2^-1021, far
// below the range of float32, become 0 or about 2^-1022.
SOFTNPU_INLINE double exp_for_float(double t) {
  const double low = -708.0, high = 710.0;  // e^710 overflows to infinity, as it should
  double x = t < low ? low : t;
  x = x > high ? high : x;
  // x = n · ln 2 + r. Adding 1.5 · 2^52 rounds to an integer, which is then in the low bits.
  const double shift = 0x1.8p52;
  const double shifted = multiply_add(x, 0x1.71547652b82fep0, shift);
  const double n = shifted - shift;
  const double r = multiply_add(n, -0x1.62e42fefa39efp-1, x);
  // Twice the minimax polynomial on |r| <= ln 2 / 2 (relative error 2^-34.5) is multiplied by 2^(n
  // - 1), because 2^n is infinite for the largest results.
  double p = 0x1.9eb714a54f9cfp-12;
  p = multiply_add(p, r, 0x1.6da4c0c179f1cp-9);
  p = multiply_add(p, r, 0x1.1112fa5c2d77ap-6);
  p = multiply_add(p, r, 0x1.5554685988451p-4);
  p = multiply_add(p, r, 0x1.55555343b339dp-2);
  p = multiply_add(p, r, 0x1.00000059d969dp+0);
  p = multiply_add(p, r, 0x1.000000010b7f9p+1);
  p = multiply_add(p, r, 0x1.ffffffffababdp+0);
  const int64_t exponent = std::bit_cast<int64_t>(shifted) + 1022;  // its high bits shift out
  const double power = std::bit_cast<double>(exponent << 52);
  // For lower t, exp is 0 in float64. NaN has passed through the polynomial.
  return t < -745.2 ? 0.0 : p * power;
}

// factor · 2^(i/16) in two parts. `value` is the rounded number minus i in the exponent's
// sixteenths, so that adding n + i sixteenths gives factor · 2^(n/16 + i/16). `rest` is the
// relative rounding error of it.
struct ScaledPowers {
  float value[16], rest[16];

  explicit ScaledPowers(double factor) {
    constexpr double kPowers[16] = {
        0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
        0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
        0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
        0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
    for (uint32_t i = 0; i < 16; ++i) {
      const double exact = factor * kPowers[i];
      const auto near = static_cast<float>(exact);
      value[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(near) - (i << kPlaces));
      rest[i] = static_cast<float>(1 - near / exact);
    }
  }

  static constexpr int kPlaces = 19;  // position of a sixteenth of the exponent's unit
};

// factor · exp(x) in float32 for -87 < x <= 0, within 0.6 ULP if the result is normal. Without
// kFine, for results that are rounded to 16 bits: within 1.4 ULP for x > -11, 2.2 for x > -30,
// and 4.5 elsewhere. V is float or Lanes. The table of sixteenths shortens the polynomial by three
// steps.
template <bool kFine, class V>
SOFTNPU_INLINE V scaled_exp(V x, const ScaledPowers& powers) {
  const V shift = splat<V>(0x1.8p23f);
  const V shifted = fused(x, splat<V>(0x1.715476p+4f), shift);
  const V n = shifted - shift;
  // ln 2 / 16 in two parts; the first product and the difference are exact.
  const V near = fused(n, splat<V>(-0x1.62e43p-5f), x);
  const V r = kFine ? fused(n, splat<V>(0x1.05c61p-33f), near) : near;
  const V q = fused(r, splat<V>(0x1.555556p-3f), splat<V>(0x1.00022p-1f));
  V p = fused(r * r, q, r);
  if constexpr (kFine) p = p + look_up(powers.rest, shifted);
  const V power = add_bits(look_up(powers.value, shifted), shifted, ScaledPowers::kPlaces);
  return fused(power, p, power);
}

SOFTNPU_LEVEL_END
