// SPDX-License-Identifier: Apache-2.0
// Functions that formulas of descriptions use, on float64 and on int64.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace softnpu::described {

inline double magnitude(double x) { return std::fabs(x); }
inline int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }
inline double rounded_up(double x) { return std::ceil(x); }
inline double rounded_down(double x) { return std::floor(x); }
inline double truncated(double x) { return std::trunc(x); }
inline int64_t rounded_up(int64_t x) { return x; }
inline int64_t rounded_down(int64_t x) { return x; }
inline int64_t truncated(int64_t x) { return x; }
inline int64_t rounded(int64_t x) { return x; }

// To the nearest integer, ties to even, whatever the rounding mode.
inline double rounded(double x) {
  const double low = std::floor(x), rest = x - low;
  if (!(rest < 1)) return x;  // infinite or NaN
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(low, 2) != 0);
  return std::copysign(up ? low + 1 : low, x);
}

template <class T>
T sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));  // 0 for NaN, as PyTorch
}

// NaN wins.
template <class T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}

inline double power(double x, double y) { return std::pow(x, y); }
// Modulo 2^64. A negative exponent gives 0 unless x is 1 or -1.
inline int64_t power(int64_t x, int64_t y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(x);
  for (uint64_t rest = static_cast<uint64_t>(y); rest != 0; rest >>= 1, factor *= factor)
    if (rest & 1) result *= factor;
  return static_cast<int64_t>(result);
}

// Remainders of integers are 0 where the divisor is 0, and so are quotients, as NumPy's. A divisor
// of -1 is treated apart, because the smallest integer has no quotient then.
inline double c_remainder(double x, double y) { return std::fmod(x, y); }
inline int64_t c_remainder(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }
inline double floor_remainder(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
inline int64_t floor_remainder(int64_t x, int64_t y) {
  const int64_t rest = c_remainder(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
inline double floor_quotient(double x, double y) {
  if (y == 0) return x / y;
  const double quotient = std::floor((x - floor_remainder(x, y)) / y + 0.5);
  return std::isfinite(x) && std::isfinite(y) ? quotient : std::floor(x / y);
}
inline int64_t floor_quotient(int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (y == -1) return static_cast<int64_t>(-static_cast<uint64_t>(x));
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

inline double sigmoid(double x) {
  const double small = std::exp(-std::fabs(x));  // neither way overflows
  return x < 0 ? small / (1 + small) : 1 / (1 + small);
}
inline double normal_density(double x) { return std::exp(-x * x / 2) * 0.3989422804014327; }
inline double normal_probability(double x) { return std::erfc(-x * 0.7071067811865476) / 2; }
inline double gelu(double x) { return x * normal_probability(x); }
inline double gelu_slope(double x) { return normal_probability(x) + x * normal_density(x); }
// The approximation by tanh; sqrt(2 / pi) is in it.
inline double gelu_tanh(double x) {
  return x * sigmoid(2 * 0.7978845608028654 * (x + 0.044715 * x * x * x));
}
inline double silu_slope(double x) {
  const double s = sigmoid(x);
  return s * (1 + x * (1 - s));
}
inline double hard_sigmoid(double x) { return smaller(larger(x + 3, 0.0), 6.0) / 6; }
inline double hard_swish_slope(double x) { return x <= -3 ? 0 : x >= 3 ? 1 : x / 3 + 0.5; }

// Each is stable where the exponentials would overflow.
inline double log_add_exp(double x, double y) {
  const double top = larger(x, y);
  return x == y ? top + std::log(2.0) : top + std::log1p(std::exp(-std::fabs(x - y)));
}
inline double log_add_exp2(double x, double y) {
  const double top = larger(x, y);
  return x == y ? top + 1 : top + std::log1p(std::exp2(-std::fabs(x - y))) / std::log(2.0);
}
inline double mish(double x) { return x * std::tanh(std::log1p(std::exp(x))); }
inline double mish_slope(double x) {
  const double w = std::tanh(std::log1p(std::exp(x)));
  return w + x * (1 - w * w) * sigmoid(x);
}
inline double sinc(double x) {
  const double angle = x * std::numbers::pi;
  return x == 0 ? 1 : std::sin(angle) / angle;
}
double digamma(double x);
double log_gamma(double x);
double inverse_erf(double y);

}  // namespace softnpu::described
