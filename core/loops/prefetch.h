// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// Prefetches the line `ahead` elements behind `at` into the first cache, or into the second
// (kLocality 2). There need not be one: nothing happens then.
template <int kLocality = 3, class T>
SOFTNPU_INLINE void prefetch(const T* at, int64_t ahead) {
  const uintptr_t address =
      reinterpret_cast<uintptr_t>(at) + static_cast<uint64_t>(ahead) * sizeof(T);
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, kLocality);
}

SOFTNPU_LEVEL_END
