// SPDX-License-Identifier: Apache-2.0
// The allocations of the device and of its page-locked host memory, and what is known of an
// address.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/export.h"
#include "base/status.h"

namespace softnpu::runtime {

// Remembers an allocation, so that its end is noticed later, also when its address was handed out
// again. To ask takes no lock and no search: launches ask for each of their operands.
class BlockMark {
 public:
  BlockMark() = default;  // of nothing, which is never freed
  BlockMark(const std::atomic<uint64_t>& serial, uint64_t marked)
      : serial_(&serial), marked_(marked) {}

  bool was_freed() const {
    return serial_ != nullptr && serial_->load(std::memory_order_acquire) != marked_;
  }

 private:
  const std::atomic<uint64_t>* serial_ = nullptr;
  uint64_t marked_ = 0;
};

struct Block {
  std::byte* base;
  size_t size;
  BlockMark mark;
};

// The live device allocation that contains `address`.
SOFTNPU_EXPORT std::optional<Block> find_block(const void* address);

// Marks the device allocation of each address; that of null is nothing, and an address outside all
// live ones counts as freed. `marks` has room for as many.
SOFTNPU_EXPORT void mark_blocks(std::span<const std::byte* const> addresses, BlockMark* marks);

enum class Family : uint8_t { device, host };

// 64-byte aligned memory, contents undefined. `*out` becomes null on failure.
SOFTNPU_EXPORT Status allocate(Family family, size_t size, void** out);

// `address` must be what allocate() returned for the same family.
SOFTNPU_EXPORT Status release(Family family, const void* address);

// Whether `count` bytes may be touched at `address`, as far as the runtime knows: they must lie
// inside one live allocation, or in memory that was never the runtime's.
SOFTNPU_EXPORT Status check_range(std::string_view argument, const void* address, size_t count);

// Bytes in live allocations of both families.
SOFTNPU_EXPORT size_t allocated_bytes();

}  // namespace softnpu::runtime
