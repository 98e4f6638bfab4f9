// SPDX-License-Identifier: Apache-2.0
// Per-thread scratch memory for tiles: a thread's stack may be too small.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "base/export.h"

namespace softnpu::loops {

constexpr size_t kScratchBytes = size_t{352} << 10;

// The calling thread's memory, which it keeps until it ends. Threads that cannot allocate share one
// block and wait for their turn. A thread must not have two Scratch objects at a time.
class Scratch {
 public:
  SOFTNPU_EXPORT Scratch();
  ~Scratch() {
    if (is_shared_) release();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // The contents are undefined.
  template <class T>
  T& as() const {
    static_assert(sizeof(T) <= kScratchBytes && alignof(T) <= kAlignment);
    static_assert(std::is_trivially_default_constructible_v<T>);
    return *new (memory_) T;
  }

  static constexpr size_t kAlignment = 64;

 private:
  SOFTNPU_EXPORT static void release();

  void* memory_;
  bool is_shared_ = false;
};

}  // namespace softnpu::loops
