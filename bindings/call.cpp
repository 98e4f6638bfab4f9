// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <pthread.h>

#include <new>

namespace softnpu::python {
namespace {

constexpr auto kHeader = static_cast<size_t>(kAlignment);  // holds the size of what follows

void release(void* block) { ::operator delete(block, kAlignment); }

// Not a thread_local: the C library ends the process where there is no memory to register its
// destructor.
struct Key {
  pthread_key_t number = 0;
  const bool exists = pthread_key_create(&number, release) == 0;
};
const Key key;

void* new_block(size_t bytes) {
  void* const block = ::operator new(kHeader + bytes, kAlignment);
  if (pthread_setspecific(key.number, block) == 0) return new (block) size_t{bytes};
  release(block);
  throw std::bad_alloc();
}

}  // namespace

std::byte* workspace(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (!key.exists) throw std::bad_alloc();
  void* block = pthread_getspecific(key.number);
  if (block != nullptr && *static_cast<size_t*>(block) < bytes) {
    pthread_setspecific(key.number, nullptr);
    release(block);
    block = nullptr;
  }
  if (block == nullptr) block = new_block(bytes);
  return static_cast<std::byte*>(block) + kHeader;
}

}  // namespace softnpu::python
