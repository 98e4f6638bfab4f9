// SPDX-License-Identifier: Apache-2.0
// Memory of this module's own, of the pool where it is large.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "memory/buffer_pool.h"

namespace softnpu::python {

// Of memory for elements, as device memory has it.
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

// Null where there is no memory.
inline OwnMemory own_memory(size_t bytes) {
  const bool pooled = memory::is_pooled(bytes);
  void* const data =
      pooled ? memory::acquire_buffer(bytes) : ::operator new(bytes, kAlignment, std::nothrow);
  return OwnMemory(static_cast<std::byte*>(data), {pooled});
}

}  // namespace softnpu::python
