// SPDX-License-Identifier: Apache-2.0
// Checks whether memory that the runtime did not allocate is mapped and accessible.
#pragma once

#include <cstddef>

namespace softnpu::runtime {

enum class Touch : unsigned char { read, write };

// Returns false if the first or the last of `count` bytes is not accessible. True if the system
// cannot tell.
bool is_accessible(const void* address, size_t count, Touch touch);

}  // namespace softnpu::runtime
