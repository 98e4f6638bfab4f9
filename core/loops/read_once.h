// SPDX-License-Identifier: Apache-2.0
// Another thread of the program may overwrite indices while a kernel runs. So each is read exactly
// once, checked, and that copy is used.
#pragma once

#include <cstdint>

#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// Compilers may not read memory again in place of what this returns.
template <class Index>
SOFTNPU_INLINE int64_t read_once(const Index* index) {
  return *const_cast<const volatile Index*>(index);
}

SOFTNPU_LEVEL_END
