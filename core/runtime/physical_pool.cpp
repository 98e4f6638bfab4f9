// SPDX-License-Identifier: Apache-2.0
#include "runtime/physical_pool.h"

#include <sys/mman.h>

#include <cstring>

namespace softnpu::runtime {
namespace {

bool map_private(std::byte* address, size_t size, int protection) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return mmap(address, size, protection, kFlags, -1, 0) != MAP_FAILED;
}

}  // namespace

std::byte* PhysicalPool::take(size_t size) { return arena_.take_addresses(size, Arena::kHugePage); }

void PhysicalPool::free(std::byte* memory, size_t size) noexcept {
  munlock(memory, size);  // after mlockall(), locked pages would stay
  // Its next owner must not find the old contents.
  if (madvise(memory, size, MADV_REMOVE) != 0) std::memset(memory, 0, size);
  arena_.free_addresses(memory, size);
}

bool PhysicalPool::map(std::byte* address, std::byte* memory, size_t size) noexcept {
  // For shared memory, an old size of 0 keeps the old mapping.
  return mremap(memory, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, address) != MAP_FAILED;
}

void PhysicalPool::renew() noexcept {
  arena_.unmap_all();
  ++generation_;
}

bool map_nothing(std::byte* address, size_t size) noexcept {
  if (!map_private(address, size, PROT_READ | PROT_WRITE)) return map_inaccessible(address, size);
  // After mlockall(), there are pages now.
  munlock(address, size);
  madvise(address, size, MADV_DONTNEED);
  return true;
}

void make_nothing(std::byte* address, size_t size) noexcept {
  Arena::make_writable(address, size);  // failure is harmless
}

bool map_inaccessible(std::byte* address, size_t size) noexcept {
  return map_private(address, size, PROT_NONE);
}

}  // namespace softnpu::runtime
