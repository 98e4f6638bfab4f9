// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <memory>

namespace softnpu::python {
namespace {

struct Release {
  void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
};

}  // namespace

std::byte* workspace(size_t bytes) {
  thread_local std::unique_ptr<std::byte, Release> memory;
  thread_local size_t size = 0;
  if (bytes > size) {
    size = 0;
    memory.reset();
    memory.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
    size = bytes;
  }
  return memory.get();
}

}  // namespace softnpu::python
