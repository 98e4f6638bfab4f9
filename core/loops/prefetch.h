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

// How far ahead elements are prefetched, 0 for not at all, and whether into the second cache only.
struct Ahead {
  int64_t distance = 0;
  bool into_second = false;

  bool any() const { return distance != 0; }

  // Calls f<kLocality>() with that of prefetch(), or 0 for not at all: loops that are so short that
  // they cannot ask for each line.
  template <class F>
  SOFTNPU_INLINE void with_locality(const F& f) const {
    if (!any())
      f.template operator()<0>();
    else if (into_second)
      f.template operator()<2>();
    else
      f.template operator()<3>();
  }
};

template <class T>
SOFTNPU_INLINE void prefetch(const T* at, Ahead ahead) {
  ahead.into_second ? prefetch<2>(at, ahead.distance) : prefetch<3>(at, ahead.distance);
}

SOFTNPU_LEVEL_END
