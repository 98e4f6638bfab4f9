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
  void operator()(std::byte* data) const {
    if (!memory::give_back_buffer(data)) ::operator delete(data, kAlignment);
  }
};
using OwnMemory = std::unique_ptr<std::byte, ReleaseMemory>;

// Null where there is no memory.
inline OwnMemory own_memory(size_t bytes) {
  if (memory::is_pooled(bytes)) return OwnMemory(memory::take_buffer(bytes));
  return OwnMemory(static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow)));
}

}  // namespace softnpu::python
