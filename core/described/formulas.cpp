// SPDX-License-Identifier: Apache-2.0
#include "described/formulas.h"

#include <limits>

namespace softnpu::described {

// Steps up to where the asymptotic series is exact. Negative numbers are reflected.
double digamma(double x) {
  if (x == 0) return std::copysign(HUGE_VAL, -x);
  if (x < 0) {
    // The tangent of the fraction keeps its digits; an integer is a pole with two signs.
    const double rest = x - std::trunc(x);
    return rest == 0 ? std::nan("")
                     : digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * rest);
  }
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  // B(2k) / 2k, from the last to the first
  constexpr double kTerms[] = {1.0 / 12,  -691.0 / 32760, 1.0 / 132, -1.0 / 240,
                               1.0 / 252, -1.0 / 120,     1.0 / 12};
  const double square = 1 / (x * x);
  double series = 0;
  for (double term : kTerms) series = (series + term) * square;
  return sum + std::log(x) - 0.5 / x - series;
}

// std::lgamma() writes a global variable.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

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
