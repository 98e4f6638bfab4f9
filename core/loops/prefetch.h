// SPDX-License-Identifier: Apache-2.0
// Prefetching of cache lines that may not exist.
#pragma once

#include <cstdint>

#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// Into which cache elements are prefetched: the numbers that the compiler has for them.
constexpr int kSecondCache = 2, kFirstCache = 3;

// Prefetches the cache line `ahead` elements after `at`. Nothing happens if there is no memory.
template <int kCache = kFirstCache, class T>
SOFTNPU_INLINE void prefetch(const T* at, int64_t ahead) {
  const uintptr_t address =
      reinterpret_cast<uintptr_t>(at) + static_cast<uint64_t>(ahead) * sizeof(T);
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, kCache);
}

SOFTNPU_LEVEL_END
