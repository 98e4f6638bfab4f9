// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/observer.h"
#include "runtime/registry.h"
#include "runtime/shared_memory.h"

namespace softnpu::runtime {
namespace {

// Whether `count` bytes from `address` on can exist. No 64-bit system has more than 2^56 bytes, and
// the bits above may be a pointer's tag.
bool fits_memory(const void* address, size_t count) {
  constexpr uintptr_t kEnd = uintptr_t{1} << 56;
  return count <= kEnd - (number(address) & (kEnd - 1));
}

const char* parameter(Family family) { return family == Family::device ? "devPtr" : "hostPtr"; }

const char* describe(Family family) {
  switch (family) {
    case Family::device:
      return "device memory (aclrtMalloc)";
    case Family::host:
      return "host memory (aclrtMallocHost)";
    case Family::mapped:
      return "mapped memory (aclrtMapMem)";
    case Family::imported:
      return "imported memory (aclrtIpcMemImportByKey), which aclrtIpcMemClose releases";
  }
  return "other memory";
}

std::byte* pointer(uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

}  // namespace

std::optional<Block> find_block(const void* address) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto* const found = r.usable_around(address);
  if (found == nullptr) return std::nullopt;
  return Block{pointer(found->first), r.end_of(*found, kNow) - found->first};
}

std::optional<int32_t> device_of(const void* address) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto* found = r.usable_around(address);
  if (found == nullptr)
    if (const auto host = r.containing(address); host != r.live.end()) found = &*host;
  return found ? std::optional(found->second.device) : std::nullopt;
}

std::optional<Block> find_reservation(const void* address) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto found = r.reserved_around(address);
  if (found == r.reserved.end()) return std::nullopt;
  return Block{pointer(found->first), found->second};
}

std::string describe_unmapped(const void* address, std::string_view lead) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const std::string unmapped = r.unmapped_around(address);
  return unmapped.empty() ? unmapped : text(lead, unmapped);
}

bool was_freed(const void* address) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  return r.owns(address) && r.containing(address) == r.live.end();
}

std::byte* kernel_address(const void* address) { return Arena::alias_of(address); }

void protect_device_memory() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.arena.protect();
  r.reserved_arena.protect();
}

uint64_t memory_time() { return registry().time.load(std::memory_order_acquire); }

bool was_allocated_at(uint64_t time, const void* address, size_t count) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto* const found = r.usable_around(address);
  return found != nullptr && found->second.made <= time &&
         count <= r.end_of(*found, time) - number(address);
}

namespace {

Family family_of(int32_t device) { return device == kHost ? Family::host : Family::device; }

Status take(int32_t device, size_t size, std::byte*& base) {
  const Family family = family_of(device);
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  RETURN_IF_FAILED(r.use.check_room(device, size));
  // Allocates the registry entry first, so that nothing has changed if memory runs out.
  std::map<uintptr_t, Allocation> one{{0, {size, family, 0, device}}};
  base = r.arena_of(family).take(size);
  if (base == nullptr)
    return fail("out-of-memory"_rule, kRtMemoryAllocation, "size is ", size,
                ", and the system has no such memory left");
  auto node = one.extract(one.begin());
  node.key() = number(base);
  node.mapped().made = ++r.time;
  r.live.insert(std::move(node));
  r.use.add(device, size);
  return {};
}

}  // namespace

Status allocate(int32_t device, size_t size, void** out) {
  const Family family = family_of(device);
  if (out == nullptr)
    return fail("output-pointer-null"_rule, kRtParamInvalid, parameter(family), " is null");
  *out = nullptr;
  RETURN_IF_FAILED(check_not_zero(size));
  std::byte* base = nullptr;
  RETURN_IF_FAILED(take(device, size, base));
  *out = base;
  notify(&Observer::allocated, family, base, size);
  return {};
}

Status release(Family family, const void* address) {
  if (address == nullptr)
    return fail("address-null"_rule, kRtParamInvalid, parameter(family), " is null");
  Registry& r = registry();
  std::byte* base;
  size_t size;
  {
    std::lock_guard lock(r.mutex);
    if (r.reserved_around(address) != r.reserved.end())
      return fail("foreign-free"_rule, kRtParamInvalid, parameter(family),
                  " is in a range that aclrtReserveMemAddress reserved; aclrtUnmapMem and "
                  "aclrtReleaseMemAddress end its use");
    const auto found = r.containing(address);
    if (found == r.live.end())
      return r.owns(address) ? fail("double-free"_rule, kRtParamInvalid, parameter(family),
                                    " is in memory that was freed already")
                             : fail("foreign-free"_rule, kRtParamInvalid, parameter(family),
                                    " was never allocated by the runtime");
    if (found->first != number(address))
      return fail("interior-free"_rule, kRtParamInvalid, parameter(family), " is ",
                  number(address) - found->first,
                  " bytes into an allocation; free the address that the allocation returned");
    if (found->second.family != family)
      return fail("wrong-free"_rule, kRtParamInvalid, parameter(family), " is ",
                  describe(found->second.family), "; it must be ", describe(family));
    base = reinterpret_cast<std::byte*>(found->first);
    size = found->second.size;
    r.use.remove(found->second.device, size);
    r.live.erase(found);
    // Registrations of this memory end with it.
    r.registered.erase(r.registered.lower_bound(number(base)),
                       r.registered.lower_bound(number(base) + size));
    ++r.time;
  }
  end_exports(base, size);
  notify(&Observer::releasing, family, base, size);
  Arena::release_pages(base, size);  // slow, so without the lock
  std::lock_guard lock(r.mutex);
  r.arena_of(family).free(base, size);
  return {};
}

namespace {

// Requires the lock. For an address in no live allocation.
Status check_unknown(const Registry& r, std::string_view argument, const void* address,
                     size_t count) {
  if (r.reserved_around(address) != r.reserved.end())
    return fail("memory-unmapped"_rule, kRtParamInvalid, argument,
                " is at a reserved address, but ", r.unmapped_around(address));
  if (r.owns(address))
    return fail("use-after-free"_rule, kRtParamInvalid, argument,
                " is in memory of the runtime that was freed");
  if (!fits_memory(address, count))
    return fail("past-end-of-memory"_rule, kRtParamInvalid, "the ", count, " bytes from ", argument,
                " on reach past the end of memory");
  return {};
}

Status past_end(const Registry& r, std::string_view argument,
                Registry::Allocations::const_iterator found, const void* address, size_t count) {
  const uintptr_t end = r.end_of(*found, kNow);
  const std::string unmapped = r.unmapped_around(pointer(end));
  if (!unmapped.empty())
    return fail("memory-unmapped"_rule, kRtParamInvalid, argument, " is ", end - number(address),
                " bytes before the end of mapped memory; the ", count,
                " bytes from there reach further, but ", unmapped);
  return fail("out-of-bounds"_rule, kRtParamInvalid, argument, " is ",
              number(address) - found->first, " bytes into an allocation of ", end - found->first,
              " bytes; the ", count, " bytes from there reach past its end");
}

}  // namespace

Status check_range(std::string_view argument, const void* address, size_t count, uint64_t time) {
  if (count == 0) return {};
  if (address == nullptr) return fail("address-null"_rule, kRtParamInvalid, argument, " is null");
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto found = r.containing(address);
  if (found == r.live.end()) return check_unknown(r, argument, address, count);
  const auto room = [&](uint64_t when) { return r.end_of(*found, when) - number(address); };
  if (found->second.made <= time) {
    if (count <= room(time)) return {};
    if (count > room(kNow)) return past_end(r, argument, found, address, count);
  }
  return fail("use-after-free"_rule, kRtParamInvalid, argument,
              " is in memory of the runtime that was freed, and allocated again since");
}

Status check_access(std::string_view argument, const void* address, size_t count, Touch touch) {
  {
    Registry& r = registry();
    std::shared_lock lock(r.mutex);
    if (r.owns(address)) return {};
  }
  if (is_accessible(address, count, touch)) return {};
  return fail("not-accessible"_rule, kRtParamInvalid, "the ", count, " bytes from ", argument,
              " on cannot be ", touch == Touch::read ? "read" : "written",
              ": the process has no such memory there");
}

size_t free_memory(int32_t device) {
  std::shared_lock lock(registry().mutex);
  return registry().use.free_on(device);
}

}  // namespace softnpu::runtime
