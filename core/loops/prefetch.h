// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// Into which cache elements are prefetched: the numbers that the compiler has for them.
constexpr int kNoCache = 0, kSecondCache = 2, kFirstCache = 3;

// Prefetches the line `ahead` elements behind `at`. There need not be one: nothing happens then.
template <int kCache = kFirstCache, class T>
SOFTNPU_INLINE void prefetch(const T* at, int64_t ahead) {
  const uintptr_t address =
      reinterpret_cast<uintptr_t>(at) + static_cast<uint64_t>(ahead) * sizeof(T);
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, kCache);
}

// How far ahead elements are prefetched, 0 for not at all, and whether into the second cache only.
struct Ahead {
  int64_t distance = 0;
  bool into_second = false;

  bool any() const { return distance != 0; }

  // Calls f<kCache>(): for loops that are so short that they cannot ask for each line.
  template <class F>
  SOFTNPU_INLINE void with_cache(const F& f) const {
    if (!any())
      f.template operator()<kNoCache>();
    else if (into_second)
      f.template operator()<kSecondCache>();
    else
      f.template operator()<kFirstCache>();
  }
};

// The same where the cache is only known while it runs. Not for a distance of 0.
template <class T>
SOFTNPU_INLINE void prefetch(const T* at, Ahead ahead) {
  ahead.into_second ? prefetch<kSecondCache>(at, ahead.distance)
                    : prefetch<kFirstCache>(at, ahead.distance);
}

SOFTNPU_LEVEL_END
