// SPDX-License-Identifier: Apache-2.0
#include "loops/scratch.h"

#include <pthread.h>

#include <cstdlib>

#include "base/fork.h"
#include "base/lasting.h"

namespace softnpu::loops {
namespace {

// Not a thread_local: the first access may allocate, and the process ends if that fails. It would
// also be destroyed before programs make their last calls.
struct Key {
  pthread_key_t number = 0;
  const bool exists = pthread_key_create(&number, std::free) == 0;
};
const Key key;

// For threads without memory of their own. Unused pages take no memory.
alignas(Scratch::kAlignment) std::byte shared_memory[kScratchBytes];
struct SharedUse : ProcessMutex<> {};

void* new_memory() {
  if (!key.exists) return nullptr;
  void* const memory = std::aligned_alloc(Scratch::kAlignment, kScratchBytes);
  if (memory == nullptr || pthread_setspecific(key.number, memory) == 0) return memory;
  std::free(memory);
  return nullptr;
}

}  // namespace

Scratch::Scratch() : memory_(key.exists ? pthread_getspecific(key.number) : nullptr) {
  if (memory_ != nullptr) return;
  memory_ = new_memory();
  if (memory_ != nullptr) return;
  lasting<SharedUse>.lock();
  memory_ = shared_memory;
  is_shared_ = true;
}

void Scratch::release() { lasting<SharedUse>.unlock(); }

}  // namespace softnpu::loops
