// SPDX-License-Identifier: Apache-2.0
// How much host memory is available as device memory.
#pragma once

#include <cstddef>

#include "base/export.h"

namespace softnpu::runtime {

// What this process may use in all: the machine's memory, or its control group's limit if lower.
size_t memory_limit();

struct MemoryInfo {
  size_t free;
  size_t total;
};
SOFTNPU_EXPORT MemoryInfo memory_info();

}  // namespace softnpu::runtime
