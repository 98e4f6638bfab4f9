// SPDX-License-Identifier: Apache-2.0
// How much memory each device has, and how much of it is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/export.h"
#include "base/status.h"

namespace softnpu::runtime {

// The memory of each device: SOFTNPU_MEMORY_MB, by default the product's, or this machine's if that
// is less.
SOFTNPU_EXPORT size_t device_memory();

// Stands for page-locked host memory in place of a device.
constexpr int32_t kHost = -1;

// Not thread-safe.
class MemoryUse {
 public:
  // Fails if the device or this machine has no memory for `size` more bytes.
  Status check_room(int32_t device, size_t size);
  // Requires check_room().
  void add(int32_t device, size_t size) noexcept;
  void remove(int32_t device, size_t size) noexcept;
  size_t free_on(int32_t device) const;

 private:
  size_t& used_by(int32_t device) { return by_device_[static_cast<size_t>(device)]; }

  std::vector<size_t> by_device_;  // empty before the first allocation
  size_t promised_ = 0;            // counts against this machine's memory
};

}  // namespace softnpu::runtime
