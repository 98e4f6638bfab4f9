// SPDX-License-Identifier: Apache-2.0
// Pages of the system, for blocks of some megabytes and more.
#pragma once

#include <cstddef>

#include "base/export.h"

namespace softnpu::memory {

// Aligned to a huge page, and made of huge pages where the system has them, which are quicker to
// clear. Null when there is no such memory.
std::byte* map_pages(size_t bytes) noexcept;
void unmap_pages(std::byte* data, size_t bytes) noexcept;

// Asks for huge pages where a block of whatever origin has not been touched.
SOFTNPU_EXPORT void prefer_huge_pages(std::byte* data, size_t bytes) noexcept;

// Tells the system that the contents are no longer needed: from now until the next write, it may
// take the pages as soon as it is short of memory. Until it does, writing needs no new page.
void offer_pages(std::byte* data, size_t bytes) noexcept;

}  // namespace softnpu::memory
