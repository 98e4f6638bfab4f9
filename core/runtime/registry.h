// SPDX-License-Identifier: Apache-2.0
// The state that memory.cpp and virtual_memory.cpp share: the device's addresses, and what is
// allocated or mapped there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <string>

#include "base/fork.h"
#include "base/lasting.h"
#include "runtime/arena.h"
#include "runtime/memory.h"
#include "runtime/memory_use.h"

namespace softnpu::runtime {

struct Allocation {
  size_t size;
  Family family;
  uint64_t made;           // when
  int32_t device = kHost;  // whose memory it takes; of a mapping, its physical memory does
};

struct Registry {
  ProcessMutex<LockRank::innermost, std::shared_mutex> mutex;
  Arena arena{Arena::Kind::memory};
  Arena host_arena{Arena::Kind::memory};  // in use only where device memory is protected
  // Of reserved ranges, whose pages virtual_memory.cpp maps.
  Arena reserved_arena{Arena::Kind::addresses};

  using Allocations = std::map<uintptr_t, Allocation>;
  Allocations live;                      // by first address
  std::map<uintptr_t, size_t> reserved;  // sizes by first address
  MemoryUse use;                         // by allocations and by physical memory
  std::atomic<uint64_t> time{0};         // changes with the lock held

  Arena& arena_of(Family family) {
    return family == Family::host && arena.is_protected() ? host_arena : arena;
  }
  bool owns(const void* address) const {
    return arena.owns(address) || host_arena.owns(address) || reserved_arena.owns(address);
  }

  // The rest with the lock held.

  // The live allocation that contains the address.
  Allocations::const_iterator containing(const void* address) const;
  // Where the bytes end that can be used from an allocation on: mapped ranges that touch are as
  // one. Those made after `time` do not count.
  uintptr_t end_of(Allocations::const_iterator first, uint64_t time) const;
  // The reserved range that contains the address.
  std::map<uintptr_t, size_t>::const_iterator reserved_around(const void* address) const;
  // "no memory is mapped at ...", with the whole unmapped part of a reserved range around the
  // address; "" where there is none.
  std::string unmapped_around(const void* address) const;
};

Status check_not_zero(size_t size);

inline Registry& registry() { return lasting<Registry>; }

inline uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

}  // namespace softnpu::runtime
