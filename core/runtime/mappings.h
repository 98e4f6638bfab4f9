// SPDX-License-Identifier: Apache-2.0
// Physical memory and its mappings, which virtual_memory.cpp manages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/fork.h"
#include "base/handle_table.h"
#include "base/status.h"
#include "runtime/physical_pool.h"

namespace softnpu::runtime {

struct Physical {
  int32_t device;
  size_t size;
  uint64_t generation;          // of the pool
  std::byte* memory = nullptr;  // in the pool
  std::byte* mapped_at = nullptr;
  bool was_mapped = false;
};

using PhysicalTable = HandleTable<Physical, HandleKind::physical_memory>;
PhysicalTable& physical_memory();

struct Mapping {
  size_t size;
  std::shared_ptr<Physical> physical;
};

// The lock is held during whole calls, so that observers see mappings in their order.
struct Mappings {
  Mappings() { keep_free_over_fork(*this, LockRank::outer); }
  void lock_for_fork() { mutex.lock(); }
  void unlock_after_fork() { mutex.unlock(); }
  void renew_in_forked_child() noexcept;

  std::mutex mutex;
  PhysicalPool pool;
  std::map<uintptr_t, Mapping> by_address;
};

Mappings& mappings();

std::string hexadecimal(const void* address);
Status check_multiple(std::string_view name, size_t value);
Status check_size(size_t size);
Status find_physical(const void* handle, std::shared_ptr<Physical>& out);
Status check_unmapped(const Physical& physical);

}  // namespace softnpu::runtime
