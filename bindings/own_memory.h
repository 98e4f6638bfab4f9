// SPDX-License-Identifier: Apache-2.0
// Memory allocated by this module, from the pool if it is large.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "memory/buffer_pool.h"

namespace softnpu::python {

// The alignment of device memory.
constexpr std::align_val_t kAlignment{64};

struct ReleaseMemory {
  bool pooled = false;
  void operator()(std::byte* data) const {
    if (pooled)
      memory::release_buffer(data);
    else
      ::operator delete(data, kAlignment);
  }
};
using OwnMemory = std::unique_ptr<std::byte, ReleaseMemory>;

// Null if there is no memory.
inline OwnMemory own_memory(size_t bytes) {
  const bool pooled = memory::is_pooled(bytes);
  void* const data =
      pooled ? memory::acquire_buffer(bytes) : ::operator new(bytes, kAlignment, std::nothrow);
  return OwnMemory(static_cast<std::byte*>(data), {pooled});
}

}  // namespace softnpu::python
