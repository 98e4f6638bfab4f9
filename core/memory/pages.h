// SPDX-License-Identifier: Apache-2.0
// Memory pages from the system, for large blocks.
#pragma once

#include <cstddef>

#include "base/export.h"

namespace softnpu::memory {

// Aligned to a huge page, and backed by huge pages if possible, which are faster to clear. Null on
// failure.
std::byte* map_pages(size_t bytes) noexcept;
void unmap_pages(std::byte* data, size_t bytes) noexcept;

// Requests huge pages for a block that has not been touched.
SOFTNPU_EXPORT void prefer_huge_pages(std::byte* data, size_t bytes) noexcept;

// Marks the contents as no longer needed. The system may reclaim the pages until the next write,
// which otherwise needs no new page.
void offer_pages(std::byte* data, size_t bytes) noexcept;

}  // namespace softnpu::memory
