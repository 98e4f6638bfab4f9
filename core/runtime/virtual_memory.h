// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, and physical memory that is mapped there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/export.h"
#include "base/status.h"

namespace softnpu::runtime {

// Addresses, offsets and sizes are multiples of it.
constexpr size_t kGranularity = size_t{2} << 20;

// `*out` is null on failure. The size is rounded up to the granularity, which is also the alignment
// if that is 0.
SOFTNPU_EXPORT Status reserve_addresses(void** out, size_t size, size_t alignment);
// Fails if memory is still mapped there.
SOFTNPU_EXPORT Status release_addresses(const void* address);

SOFTNPU_EXPORT Status allocate_physical(void** out, size_t size, int32_t device);
// Fails if the memory is mapped.
SOFTNPU_EXPORT Status free_physical(const void* handle);

// Physical memory can be mapped at one place at a time. It keeps its contents until it is freed.
SOFTNPU_EXPORT Status map_memory(void* address, size_t size, size_t offset, const void* handle);
SOFTNPU_EXPORT Status unmap_memory(const void* address);

}  // namespace softnpu::runtime
