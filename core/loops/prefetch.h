// SPDX-License-Identifier: Apache-2.0
// Prefetching of cache lines, which need not exist.
#pragma once

#include <cstdint>

#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// The cache to prefetch into, as __builtin_prefetch() numbers it.
constexpr int kSecondCache = 2, kFirstCache = 3;

// Prefetches the cache line `ahead` elements after `at`. Invalid addresses are harmless.
template <int kCache = kFirstCache, class T>
SOFTNPU_INLINE void prefetch(const T* at, int64_t ahead) {
  const uintptr_t address =
      reinterpret_cast<uintptr_t>(at) + static_cast<uint64_t>(ahead) * sizeof(T);
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, kCache);
}

SOFTNPU_LEVEL_END
