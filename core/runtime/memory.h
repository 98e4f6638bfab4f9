// SPDX-License-Identifier: Apache-2.0
// The allocations of the device and of its page-locked host memory, and what is known of an
// address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/export.h"
#include "base/status.h"
#include "runtime/memory_use.h"
#include "runtime/probe.h"

namespace softnpu::runtime {

struct Block {
  std::byte* base;
  size_t size;
};

// The live device allocation that contains `address`; of mapped memory, the mapping that does,
// together with those that follow without a gap.
SOFTNPU_EXPORT std::optional<Block> find_block(const void* address);

// Whether `address` lies in memory of the runtime that is no allocation now.
SOFTNPU_EXPORT bool was_freed(const void* address);

// Where the library itself reads and writes device memory: at `address`, unless it is kept from
// the program by protect_device_memory().
SOFTNPU_EXPORT std::byte* kernel_address(const void* address);

// From now on new device memory has its contents at another address, so that the program's own
// reads and writes of it end in SIGSEGV. To be called before the first allocation.
SOFTNPU_EXPORT void protect_device_memory();

// An epoch: it grows with every allocation and every release. If it is unchanged, no memory was
// freed.
SOFTNPU_EXPORT uint64_t memory_time();

// Whether `count` bytes lie in live device memory that was there at that time already. What was
// made since may have the address of other memory that was freed.
SOFTNPU_EXPORT bool was_allocated_at(uint64_t time, const void* address, size_t count);

// Mapped memory is device memory that aclrtMapMem made accessible in a reserved range.
enum class Family : uint8_t { device, host, mapped };

// The range that aclrtReserveMemAddress reserved and that contains `address`.
SOFTNPU_EXPORT std::optional<Block> find_reservation(const void* address);
// `lead` and "no memory is mapped at ...", with the unmapped part of a reserved range around the
// address; "" where there is none.
SOFTNPU_EXPORT std::string describe_unmapped(const void* address, std::string_view lead = "");

// 64-byte aligned memory of a device, or of the host (kHost), contents undefined. `*out` becomes
// null on failure.
SOFTNPU_EXPORT Status allocate(int32_t device, size_t size, void** out);

// `address` must be what allocate() returned for the same family.
SOFTNPU_EXPORT Status release(Family family, const void* address);

// Whether `count` bytes may be touched at `address`, as far as the runtime knows: they must lie
// inside one live allocation that was there at `time` already, or in memory that was never the
// runtime's.
constexpr uint64_t kNow = UINT64_MAX;
SOFTNPU_EXPORT Status check_range(std::string_view argument, const void* address, size_t count,
                                  uint64_t time = kNow);

// The same for memory that was never the runtime's: the process must have its first and last byte.
SOFTNPU_EXPORT Status check_access(std::string_view argument, const void* address, size_t count,
                                   Touch touch);

// Bytes that can still be allocated on a device.
SOFTNPU_EXPORT size_t free_memory(int32_t device);

}  // namespace softnpu::runtime
