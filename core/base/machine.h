// SPDX-License-Identifier: Apache-2.0
// What differs between machines that run the same instructions, as far as it decides which way is
// the fastest. Measured on a Zen 4, a Zen 5, and a Xeon with AVX512-FP16.
#pragma once

#include "base/export.h"

namespace softnpu {

struct Machine {
  bool is_intel = false;
  // Computes 512 bits in halves.
  bool is_zen4 = false;
  // Its first cache takes as many lines from memory at a time as its second, and its shared cache
  // is near.
  bool is_zen5 = false;
  // One instruction that reads several elements takes less time than reading each: on Intel's with
  // AVX512-FP16. On the Xeons before them gathers are slow since microcode keeps what they read
  // from other programs (Downfall); a Zen 4 makes them of single loads.
  bool has_fast_gathers = false;
};

SOFTNPU_EXPORT const Machine& machine();

}  // namespace softnpu
