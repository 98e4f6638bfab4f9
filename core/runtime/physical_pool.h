// SPDX-License-Identifier: Apache-2.0
// The physical memory behind reserved addresses: shared memory that is mapped once at a hidden
// address, and again wherever the program maps it. It needs no file descriptor: programs may close
// any, and reuse its number for their own files.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/arena.h"

namespace softnpu::runtime {

// Not thread-safe.
class PhysicalPool {
 public:
  // Memory that reads as zeros; null if the system has none left.
  std::byte* take(size_t size);
  // Returns the pages to the system, wherever they are mapped.
  void free(std::byte* memory, size_t size) noexcept;
  bool map(std::byte* address, std::byte* memory, size_t size) noexcept;

  // In a forked child: forgets all memory, which is the parent's.
  void renew() noexcept;
  // Counts the forks, to recognise memory of a parent process.
  uint64_t generation() const { return generation_; }

 private:
  Arena arena_{Arena::Kind::shared};
  uint64_t generation_ = 0;
};

// Replaces a mapping by private memory that nothing uses, as in all unmapped parts of a reserved
// range. So work that still runs there does not crash, and the system merges adjacent parts. If the
// process may have no more writable memory, the addresses become inaccessible. Returns false, with
// nothing changed, if it can have no more mappings.
bool map_nothing(std::byte* address, size_t size) noexcept;
// The same for inaccessible addresses of a new reservation.
void make_nothing(std::byte* address, size_t size) noexcept;
// Makes the addresses inaccessible again.
bool map_inaccessible(std::byte* address, size_t size) noexcept;

}  // namespace softnpu::runtime
