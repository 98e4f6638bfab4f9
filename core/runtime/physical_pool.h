// SPDX-License-Identifier: Apache-2.0
// The physical memory behind reserved addresses: shared memory that is mapped once where no program
// looks for it, and mapped again wherever a program wants it. No descriptor belongs to it: programs
// may close any, and the numbers of those become their own files'.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/arena.h"

namespace softnpu::runtime {

// Not thread-safe.
class PhysicalPool {
 public:
  // Memory that reads as zeros; null where the system gives no more.
  std::byte* take(size_t size);
  // Its pages return to the system, wherever they are mapped.
  void free(std::byte* memory, size_t size) noexcept;
  bool map(std::byte* address, std::byte* memory, size_t size) noexcept;

  // In a forked child: what was taken until now is the parent's.
  void renew() noexcept;
  // Whose memory it is, in a row of parents and children.
  uint64_t generation() const { return generation_; }

 private:
  Arena arena_{Arena::Kind::shared};
  uint64_t generation_ = 0;
};

// Replaces what is mapped there by memory that is nobody's, as it is in all of a reserved range
// where nothing is mapped. Work that still runs there does not end the process, and the system
// keeps one mapping for all that touch. Where a process may have no more writable memory, the
// addresses become inaccessible. False where it can have no more mappings: nothing changes.
bool map_nothing(std::byte* address, size_t size) noexcept;
// The same for inaccessible addresses, which become such a range.
void make_nothing(std::byte* address, size_t size) noexcept;
// Back again.
bool map_inaccessible(std::byte* address, size_t size) noexcept;

}  // namespace softnpu::runtime
