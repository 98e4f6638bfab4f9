// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace softnpu {

// SplitMix64: a counter whose values are scrambled.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t bits = state_ += 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
  }
  // A number below `end`. Nearly uniform if `end` is small.
  uint64_t below(uint64_t end) { return next() % end; }
  // A number in [0, 1).
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace softnpu
