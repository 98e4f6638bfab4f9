// SPDX-License-Identifier: Apache-2.0
// int64 arithmetic that detects overflow. Sizes and strides come from callers.
#pragma once

#include <cstdint>
#include <optional>

namespace softnpu {

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

}  // namespace softnpu
