// SPDX-License-Identifier: Apache-2.0
// Checks whether memory that the runtime did not allocate is mapped and accessible.
#pragma once

#include <cstddef>

namespace softnpu::runtime {

enum class Touch : unsigned char { read, write };

// False if the first or the last of `count` bytes cannot be read, or written. True where the system
// does not tell.
bool is_accessible(const void* address, size_t count, Touch touch);

}  // namespace softnpu::runtime
