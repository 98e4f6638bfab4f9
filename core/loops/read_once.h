// SPDX-License-Identifier: Apache-2.0
// Another thread of the program may overwrite indices while a kernel runs. So each index is read
// exactly once, and the copy that was checked is used.
#pragma once

#include <cstdint>

#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// Prevents the compiler from reading the memory again.
template <class Index>
SOFTNPU_INLINE int64_t read_once(const Index* index) {
  return *const_cast<const volatile Index*>(index);
}

SOFTNPU_LEVEL_END
