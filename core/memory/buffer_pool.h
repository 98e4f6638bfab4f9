// SPDX-License-Identifier: Apache-2.0
// Memory for large results. The system clears new pages, which takes longer than computing their
// contents, so unused buffers are kept for the next result of similar size.
//
// A limit bounds the idle buffers, and the system may reclaim their pages when it needs them. All
// functions are thread-safe.
#pragma once

#include <cstddef>
#include <optional>

#include "base/export.h"
#include "base/tuning.h"

namespace softnpu::memory {

// The maximum bytes in idle buffers; 0 turns the pool off. SOFTNPU_POOL_MB if it is set, otherwise
// the smaller of 1 GiB and an eighth of the process's memory limit.
SOFTNPU_EXPORT size_t pool_limit();
SOFTNPU_EXPORT void set_pool_limit(size_t bytes);

// Whether a result of this size uses the pool. The C library keeps smaller blocks itself.
inline bool is_pooled(size_t bytes) { return bytes >= kLargeBytes && pool_limit() > 0; }

// Returns memory with undefined contents, aligned to a huge page. Null if the system has none left,
// even after idle buffers were released.
SOFTNPU_EXPORT std::byte* acquire_buffer(size_t bytes) noexcept;

// Returns false if `data` did not come from acquire_buffer(), or was released already.
SOFTNPU_EXPORT bool release_buffer(void* data) noexcept;

struct BufferUse {
  size_t bytes;  // requested
  bool fresh;    // the memory was not used before, so its pages may be new
};
// Nothing if `data` did not come from acquire_buffer().
SOFTNPU_EXPORT std::optional<BufferUse> find_buffer(const void* data) noexcept;

// Returns all idle buffers to the system, and the number of their bytes to the caller.
SOFTNPU_EXPORT size_t release_idle_buffers() noexcept;

struct PoolUsage {
  size_t idle, live;  // bytes in buffers
};
SOFTNPU_EXPORT PoolUsage pool_usage() noexcept;

}  // namespace softnpu::memory
