// SPDX-License-Identifier: Apache-2.0
// Scalar conversions between float32 and the two 16-bit types, rounding to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace softnpu {

constexpr float bfloat_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

constexpr uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t quiet_nan = (bits >> 16) | 0x40u;
  const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? quiet_nan : rounded);
}

// Branch-free, so that compilers vectorise loops over it on CPUs without a conversion instruction.
constexpr float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7FFFu;
  // Normal numbers: move exponent and mantissa into place and re-bias the exponent (15 to 127).
  const uint32_t normal = (magnitude << 13) + (112u << 23);
  const uint32_t special = (magnitude << 13) | 0x7F800000u;
  // Subnormals: magnitude · 2^-24 is exact in float32.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  // A signalling NaN becomes quiet, as in the hardware conversion.
  const uint32_t quiet = magnitude > 0x7C00u ? 0x00400000u : 0u;
  const uint32_t bits = magnitude < 0x0400u   ? subnormal
                        : magnitude < 0x7C00u ? normal
                                              : special | quiet;
  return std::bit_cast<float>(sign | bits);
}

constexpr uint16_t float_to_half(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (all >> 16) & 0x8000u;
  const uint32_t bits = all & 0x7FFFFFFFu;
  // Normal results: add half of the last kept bit (ties to even), re-bias, drop 13 bits.
  const uint32_t normal = (bits - (112u << 23) + 0xFFFu + ((bits >> 13) & 1u)) >> 13;
  // Subnormal results: adding 0.5 puts the last kept bit, 2^-24, at the end of the mantissa.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
  const uint32_t nan = 0x7E00u | ((bits >> 13) & 0x3FFu);
  const uint32_t half = bits > 0x7F800000u    ? nan
                        : bits >= 0x477FF000u ? 0x7C00u  // 65520 and above round to infinity
                        : bits >= 0x38800000u ? normal
                                              : subnormal;
  return static_cast<uint16_t>(sign | half);
}

}  // namespace softnpu
