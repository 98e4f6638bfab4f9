// SPDX-License-Identifier: Apache-2.0
#include "loops/scratch.h"

#include <cstdlib>

#include "base/exit_key.h"
#include "base/fork.h"
#include "base/lasting.h"

namespace softnpu::loops {
namespace {

// Not a thread_local, which would be destroyed before programs make their last calls.
const ExitKey<std::free> key;

// For threads without memory of their own. Unused pages take no memory.
alignas(Scratch::kAlignment) std::byte shared_memory[kScratchBytes];
struct SharedUse : ProcessMutex<> {};

void* new_memory() {
  void* const memory = std::aligned_alloc(Scratch::kAlignment, kScratchBytes);
  if (memory == nullptr || key.keep(memory)) return memory;
  std::free(memory);
  return nullptr;
}

}  // namespace

Scratch::Scratch() : memory_(key.kept()) {
  if (memory_ != nullptr) return;
  memory_ = new_memory();
  if (memory_ != nullptr) return;
  lasting<SharedUse>.lock();
  memory_ = shared_memory;
  is_shared_ = true;
}

void Scratch::release() { lasting<SharedUse>.unlock(); }

}  // namespace softnpu::loops
