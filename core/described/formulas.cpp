// SPDX-License-Identifier: Apache-2.0
#include "described/formulas.h"

#include <limits>

namespace softnpu::described {

// A closed approximation, then Newton's method. Where erf is near 1, the equation is solved for
// erfc, which keeps the digits.
double inverse_erf(double y) {
  const double size = std::fabs(y);
  if (!(size < 1)) return size == 1 ? std::copysign(HUGE_VAL, y) : std::nan("");
  constexpr double kPi = 3.141592653589793, kFit = 0.147;
  const double log = std::log1p(-size * size), half = 2 / (kPi * kFit) + log / 2;
  double x = std::sqrt(std::sqrt(half * half - log / kFit) - half);
  for (int step = 0; step < 4; ++step) {
    const double excess = size < 0.5 ? std::erf(x) - size : (1 - size) - std::erfc(x);
    const double slope = 2 / std::sqrt(kPi) * std::exp(-x * x);
    if (slope == 0) break;
    const double newton = excess / slope;
    x -= newton / (1 + x * newton);
  }
  return std::copysign(x, y);
}

}  // namespace softnpu::described
