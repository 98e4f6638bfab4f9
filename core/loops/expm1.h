// SPDX-License-Identifier: Apache-2.0
// exp(t) - 1 for results that are rounded to float32 or less, with a series near 0, where exp(t) -
// 1 would cancel. And ScaledElu, the float32 formula of elu and selu.
#pragma once

#include "loops/exp.h"

SOFTNPU_LEVEL_BEGIN

// exp(t) - 1 with a relative error below 2^-32; -0 for -0.
SOFTNPU_INLINE double expm1_for_float(double t) {
  double p = 1.0 / 3628800;  // coefficients 1 / (k + 1)! of (exp(t) - 1) / t
  p = multiply_add(p, t, 1.0 / 362880);
  p = multiply_add(p, t, 1.0 / 40320);
  p = multiply_add(p, t, 1.0 / 5040);
  p = multiply_add(p, t, 1.0 / 720);
  p = multiply_add(p, t, 1.0 / 120);
  p = multiply_add(p, t, 1.0 / 24);
  p = multiply_add(p, t, 1.0 / 6);
  p = multiply_add(p, t, 1.0 / 2);
  p = multiply_add(p, t, 1.0);
  const bool is_near = t > -0.35 && t < 0.35;
  return is_near ? t * p : exp_for_float(t) - 1;
}

// scale · x above 0, else factor · (exp(x) - 1), in float32. V is float or Lanes.
struct ScaledElu {
  float scale, factor;
  ScaledPowers powers;

  ScaledElu(double scale, double factor)
      : scale(static_cast<float>(scale)),
        factor(static_cast<float>(factor)),
        powers(this->factor) {}

  template <class V>
  SOFTNPU_INLINE V operator()(V x) const {
    // Below -20, no result changes in float32. NaN and ±0 take the linear branch.
    const V low = splat<V>(-20.0f);
    const V below = scaled_expm1(select(x < low, low, x));
    return select(x < 0.0f, below, x * select(x > 0.0f, splat<V>(scale), splat<V>(factor)));
  }

 private:
  // factor · (exp(x) - 1) for -20 <= x < 0. Like scaled_exp(), with one more term, because for 2^n
  // = 1 the result is the polynomial itself.
  template <class V>
  SOFTNPU_INLINE V scaled_expm1(V x) const {
    const V shift = splat<V>(0x1.8p23f);
    const V shifted = fused(x, splat<V>(0x1.715476p+4f), shift);
    const V n = shifted - shift;
    const V r = fused(n, splat<V>(0x1.05c61p-33f), fused(n, splat<V>(-0x1.62e43p-5f), x));
    const V q = fused(r, fused(r, splat<V>(1.0f / 24), splat<V>(1.0f / 6)), splat<V>(0.5f));
    const V p = fused(r * r, q, r) + look_up(powers.rest, shifted);
    const V power = add_bits(look_up(powers.value, shifted), shifted, ScaledPowers::kPlaces);
    return fused(power, p, power - factor);
  }
};

SOFTNPU_LEVEL_END
