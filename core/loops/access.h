// SPDX-License-Identifier: Apache-2.0
// Memory accesses that need care: prefetching of addresses that may be invalid, and indices that
// another thread of the program may overwrite.
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

// Reads an index exactly once, so that the value that was checked is the one that is used.
template <class Index>
SOFTNPU_INLINE int64_t read_once(const Index* index) {
  return *const_cast<const volatile Index*>(index);
}

SOFTNPU_LEVEL_END
