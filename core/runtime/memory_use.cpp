// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_use.h"

#include <algorithm>
#include <limits>

#include "base/environment.h"
#include "base/lasting.h"
#include "runtime/arena.h"
#include "runtime/machine.h"
#include "runtime/product.h"
#include "runtime/settings.h"

namespace softnpu::runtime {
namespace {

constexpr size_t kBytesPerMiB = size_t{1} << 20;

struct DeviceMemory {
  size_t bytes;
  // A size that the user sets is used as it is. It may exceed this machine's memory, because unused
  // memory takes none.
  bool is_set;
};

DeviceMemory find_device_memory() {
  constexpr size_t kMost = std::numeric_limits<size_t>::max() / kBytesPerMiB;
  if (const auto wish = number_setting<size_t>("SOFTNPU_MEMORY_MB", 1, kMost))
    return {*wish * kBytesPerMiB, true};
  constexpr size_t kPage = Arena::kHugePage;  // so that all of it can be mapped
  return {std::min(product().memory_gib * kBytesPerMiB * 1024, memory_limit() / kPage * kPage),
          false};
}

const DeviceMemory& found() { return made_once<find_device_memory>(); }

size_t whole(size_t size) {
  constexpr size_t kUnit = 64;
  return (size + kUnit - 1) / kUnit * kUnit;
}

bool counts_for_machine(int32_t device) { return device == kHost || !found().is_set; }

}  // namespace

size_t device_memory() { return found().bytes; }

Status MemoryUse::check_room(int32_t device, size_t size) {
  if (by_device_.empty()) by_device_.resize(static_cast<size_t>(device_count()));
  if (device != kHost && size > free_on(device))
    return fail("out-of-memory"_rule, kRtMemoryAllocation, "size is ", size, ", but only ",
                free_on(device), " of the ", device_memory(), " bytes of device ", device,
                " are free; SOFTNPU_MEMORY_MB sets how much memory a device has");
  if (!counts_for_machine(device)) return {};
  // Otherwise the system would overcommit, and kill the process when the memory is used.
  const size_t machine = memory_limit(), left = machine - std::min(promised_, machine);
  if (size <= left) return {};
  return fail("out-of-memory"_rule, kRtMemoryAllocation, "size is ", size, ", but only ", left,
              " of this machine's ", machine, " bytes are left for the host and all devices",
              device == kHost ? "" : "; it does not limit devices if SOFTNPU_MEMORY_MB is set");
}

void MemoryUse::add(int32_t device, size_t size) noexcept {
  if (device != kHost) used_by(device) += whole(size);
  if (counts_for_machine(device)) promised_ += whole(size);
}

void MemoryUse::remove(int32_t device, size_t size) noexcept {
  if (device != kHost) used_by(device) -= whole(size);
  if (counts_for_machine(device)) promised_ -= whole(size);
}

size_t MemoryUse::free_on(int32_t device) const {
  const size_t used = by_device_.empty() ? 0 : by_device_[static_cast<size_t>(device)];
  return device_memory() - used;
}

}  // namespace softnpu::runtime
