// SPDX-License-Identifier: Apache-2.0
// Memory for large results. The system clears every page that it gives to a process, which takes
// longer than a kernel needs to compute what goes there; so a buffer that is no longer used is kept
// for the next result of about its size.
//
// Idle buffers are bounded by a limit, and the system may take their pages whenever it needs them.
// Everything here may be called by any thread at any time.
#pragma once

#include <cstddef>
#include <optional>

#include "base/export.h"
#include "base/tuning.h"

namespace softnpu::memory {

// Most bytes in idle buffers; 0 turns the pool off. SOFTNPU_POOL_MB where it is a number, else the
// smaller of 1 GiB and an eighth of the memory that the process may use.
SOFTNPU_EXPORT size_t pool_limit();
SOFTNPU_EXPORT void set_pool_limit(size_t bytes);

// Whether a result of this size gets its memory here; the C library keeps smaller blocks itself.
inline bool is_pooled(size_t bytes) { return bytes >= kLargeBytes && pool_limit() > 0; }

// Undefined contents, aligned to a huge page. Null when the system has no such memory, even after
// it got back what is idle.
SOFTNPU_EXPORT std::byte* take_buffer(size_t bytes) noexcept;

// False when `data` is not what take_buffer() returned, or was given back already.
SOFTNPU_EXPORT bool give_back_buffer(void* data) noexcept;

struct BufferUse {
  size_t bytes;  // that were asked for
  bool fresh;    // no result was in this memory before: its pages may never have been touched
};
// Nothing when `data` is not what take_buffer() returned.
SOFTNPU_EXPORT std::optional<BufferUse> find_buffer(const void* data) noexcept;

// Returns all idle buffers to the system; says how many bytes they had.
SOFTNPU_EXPORT size_t release_idle_buffers() noexcept;

struct PoolUsage {
  size_t idle, live;  // bytes in buffers
};
SOFTNPU_EXPORT PoolUsage pool_usage() noexcept;

}  // namespace softnpu::memory
