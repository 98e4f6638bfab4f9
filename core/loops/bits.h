// SPDX-License-Identifier: Apache-2.0
// Types for elements that are copied as raw bits.
#pragma once

#include <cstdint>

#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// A byte that, unlike uint8_t, does not alias other types.
enum class Bits8 : uint8_t {};

// Calls f.template operator()<Bits>() with a type of `item` bytes: 1, 2, 4 or 8.
template <class F>
SOFTNPU_INLINE auto with_bits(int64_t item, const F& f) {
  switch (item) {
    case 1:
      return f.template operator()<Bits8>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    default:
      return f.template operator()<uint64_t>();
  }
}

SOFTNPU_LEVEL_END
