// SPDX-License-Identifier: Apache-2.0
// The state that memory.cpp and virtual_memory.cpp share: the device's addresses and allocations.
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
  uint64_t made;           // the time of the allocation
  int32_t device = kHost;  // whose memory it uses
};

struct Registry {
  ProcessMutex<LockRank::innermost, std::shared_mutex> mutex;
  Arena arena{Arena::Kind::memory};
  Arena host_arena{Arena::Kind::pages};  // used only if device memory is protected
  // Reserved ranges, whose pages virtual_memory.cpp maps.
  Arena reserved_arena{Arena::Kind::addresses};

  using Allocations = std::map<uintptr_t, Allocation>;
  Allocations live;                      // by first address
  Allocations registered;                // memory of the host that operators may use
  std::map<uintptr_t, size_t> reserved;  // sizes by first address
  MemoryUse use;                         // counts allocations and physical memory
  std::atomic<uint64_t> time{0};         // only changed with the lock

  Arena& arena_of(Family family) {
    return family == Family::host && arena.is_protected() ? host_arena : arena;
  }
  bool owns(const void* address) const {
    return arena.owns(address) || host_arena.owns(address) || reserved_arena.owns(address);
  }

  // The rest requires the lock.

  Allocations::const_iterator containing(const void* address) const;
  // What operators may use: device memory, or registered memory of the host. Null if there is none.
  const Allocations::value_type* usable_around(const void* address) const;
  // The end of the memory that starts with an allocation. Adjacent mappings are one range; those
  // made after `time` do not count.
  uintptr_t end_of(const Allocations::value_type& first, uint64_t time) const;
  std::map<uintptr_t, size_t>::const_iterator reserved_around(const void* address) const;
  // "no memory is mapped at ...", with the whole unmapped part of the reserved range around the
  // address; "" if there is none.
  std::string unmapped_around(const void* address) const;
};

inline Registry& registry() { return lasting<Registry>; }

inline uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

}  // namespace softnpu::runtime
