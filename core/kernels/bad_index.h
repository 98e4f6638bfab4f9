// SPDX-License-Identifier: Apache-2.0
// The error that the unpooling kernels return.
#pragma once

#include <cstdint>

namespace softnpu::kernels {

// The first index, by its position in row-major order, that is out of range.
struct BadIndex {
  int64_t position = -1;  // -1: none
  int64_t value = 0;
};

}  // namespace softnpu::kernels
