// SPDX-License-Identifier: Apache-2.0
// The allocations of the device and of page-locked host memory, and queries about addresses.
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

// The live device allocation that contains `address`, or the registered memory of the host. For
// mapped memory, this mapping and those that directly follow.
SOFTNPU_EXPORT std::optional<Block> find_block(const void* address);

// The device whose live memory contains `address`; kHost for page-locked or registered memory of
// the host.
SOFTNPU_EXPORT std::optional<int32_t> device_of(const void* address);

// Whether `address` is in memory of the runtime that is not allocated now.
SOFTNPU_EXPORT bool was_freed(const void* address);

// The address at which the library itself accesses device memory. It differs from `address` after
// protect_device_memory().
SOFTNPU_EXPORT std::byte* kernel_address(const void* address);

// From now on, the contents of new device memory are at another address, and direct accesses of the
// program raise SIGSEGV. Must be called before the first allocation.
SOFTNPU_EXPORT void protect_device_memory();

// An epoch that grows with every allocation and every release. If it is unchanged, no memory was
// freed.
SOFTNPU_EXPORT uint64_t memory_time();

// Whether `count` bytes lie in live device memory that was allocated by that time. Memory allocated
// later may reuse the address of freed memory.
SOFTNPU_EXPORT bool was_allocated_at(uint64_t time, const void* address, size_t count);

// Mapped memory is device memory that aclrtMapMem mapped to a reserved range; imported memory is
// that of another process.
enum class Family : uint8_t { device, host, mapped, imported };

// The range, reserved by aclrtReserveMemAddress, that contains `address`.
SOFTNPU_EXPORT std::optional<Block> find_reservation(const void* address);
// `lead` and "no memory is mapped at ...", with the unmapped part of the reserved range around the
// address; "" if there is none.
SOFTNPU_EXPORT std::string describe_unmapped(const void* address, std::string_view lead = "");

SOFTNPU_EXPORT Status check_not_zero(size_t size);

// 64-byte aligned memory of a device, or of the host (kHost), with undefined contents. `*out` is
// null on failure.
SOFTNPU_EXPORT Status allocate(int32_t device, size_t size, void** out);

// `address` must come from allocate() for the same family.
SOFTNPU_EXPORT Status release(Family family, const void* address);

// Lets operators use `size` bytes of the host's memory, until they are unregistered or freed.
SOFTNPU_EXPORT Status register_host(void* address, uint64_t size);
SOFTNPU_EXPORT Status unregister_host(const void* address);
// Fails if `address` is in no registered memory.
SOFTNPU_EXPORT Status check_registered(const void* address);

// Fails if the runtime knows that `count` bytes at `address` must not be accessed: they must lie in
// one live allocation that existed at `time`, or in memory that never belonged to the runtime.
constexpr uint64_t kNow = UINT64_MAX;
SOFTNPU_EXPORT Status check_range(std::string_view argument, const void* address, size_t count,
                                  uint64_t time = kNow);

// For memory that never belonged to the runtime: its first and its last byte must be accessible.
SOFTNPU_EXPORT Status check_access(std::string_view argument, const void* address, size_t count,
                                   Touch touch);

SOFTNPU_EXPORT size_t free_memory(int32_t device);

}  // namespace softnpu::runtime
