// SPDX-License-Identifier: Apache-2.0
#include "numpy_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/lasting.h"
#include "memory/buffer_pool.h"
#include "python_code.h"

namespace softnpu::python {
namespace {

// An array is resized, and a garbage collector may make other arrays meanwhile; so memory may be of
// any size, and only the pool knows what is its own.
void* allocate(void*, size_t bytes) {
  return memory::is_pooled(bytes) ? memory::take_buffer(bytes) : std::malloc(bytes);
}

void* allocate_zeros(void*, size_t count, size_t size) { return std::calloc(count, size); }

void release(void*, void* data, size_t) {
  if (data != nullptr && !memory::give_back_buffer(data)) std::free(data);
}

void* reallocate(void*, void* data, size_t bytes) {
  const auto use = memory::find_buffer(data);
  if (!use) return std::realloc(data, bytes);
  void* const moved = allocate(nullptr, bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, data, std::min(bytes, use->bytes));
  memory::give_back_buffer(data);
  return moved;
}

numpy_abi::MemoryHandler handler = {.name = "softnpu",
                                    .version = 1,
                                    .context = nullptr,
                                    .malloc = allocate,
                                    .calloc = allocate_zeros,
                                    .realloc = reallocate,
                                    .free = release};

// Lives as long as the process, as arrays may.
PyObject* make_handler_capsule() {
  PyObject* made = PyCapsule_New(&handler, numpy_abi::kHandlerCapsule, nullptr);
  if (made == nullptr) nb::raise_python_error();
  return made;
}

}  // namespace

PooledMemory::PooledMemory(numpy_abi::SetHandler set_handler) : set_handler_(set_handler) {
  PyObject* const ours = made_once<make_handler_capsule>();
  before_ = ask([=] { return set_handler(ours); });
}

PooledMemory::~PooledMemory() {
  const nb::error_scope keep;  // of the array that could not be made
  PyObject* const ours = call_or_stay([this] { return set_handler_(before_.ptr()); });
  if (ours == nullptr) PyErr_Clear();
  Py_XDECREF(ours);
}

}  // namespace softnpu::python
