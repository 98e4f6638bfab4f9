// SPDX-License-Identifier: Apache-2.0
#include "runtime/virtual_memory.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/observer.h"
#include "runtime/mappings.h"
#include "runtime/registry.h"

namespace softnpu::runtime {
namespace {

Status no_reservation(const void* address) {
  if (address == nullptr) return fail("address-null"_rule, kRtParamInvalid, "virPtr is null");
  return fail("address-not-reserved"_rule, kRtParamInvalid, "virPtr is ", hexadecimal(address),
              ", which is in no range that aclrtReserveMemAddress reserved");
}

}  // namespace

Status reserve_addresses(void** out, size_t size, size_t alignment) {
  *out = nullptr;
  RETURN_IF_FAILED(check_not_zero(size));
  constexpr size_t kMost = size_t{1} << 47;  // no address space has more
  if ((alignment & (alignment - 1)) != 0 || alignment >= kMost)
    return fail("reserve-alignment"_rule, kRtParamInvalid, "alignment is ", alignment,
                "; it must be 0 or a power of 2, below ", kMost);
  std::byte* base = nullptr;
  {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    // Allocated first, so that nothing has changed if memory runs out.
    std::map<uintptr_t, size_t> one{{0, 0}};
    if (size < kMost) {
      size_t& whole = one.begin()->second = (size + kGranularity - 1) / kGranularity * kGranularity;
      base = r.reserved_arena.take_addresses(whole, std::max(alignment, kGranularity));
    }
    if (base == nullptr)
      return fail("out-of-addresses"_rule, kRtMemoryAllocation, "size is ", size,
                  ", and the system has no such range left");
    make_nothing(kernel_address(base), one.begin()->second);
    auto node = one.extract(one.begin());
    node.key() = number(base);
    r.reserved.insert(std::move(node));
  }
  *out = base;
  notify(&Observer::created, HandleKind::reservation, base);
  return {};
}

Status release_addresses(const void* address) {
  std::lock_guard own(mappings().mutex);
  const auto range = find_reservation(address);
  if (!range) return no_reservation(address);
  if (range->base != address)
    return fail(
        "not-the-first-address"_rule, kRtParamInvalid, "virPtr is ",
        number(address) - number(range->base),
        " bytes into a reserved range; pass the address that aclrtReserveMemAddress returned");
  const auto& all = mappings().by_address;
  const auto first = all.lower_bound(number(address));
  if (first != all.end() && first->first < number(address) + range->size)
    return fail("still-mapped"_rule, kRtParamInvalid,
                "virPtr is a range in which memory is mapped, at ",
                hexadecimal(reinterpret_cast<const void*>(first->first)),
                "; unmap it first (aclrtUnmapMem)");
  notify(&Observer::destroyed, HandleKind::reservation, address);
  map_inaccessible(kernel_address(address), range->size);
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.reserved.erase(number(address));
  r.reserved_arena.free_addresses(range->base, range->size);
  return {};
}

namespace {

// Frees the memory at the end of the scope, unless `physical` was reset.
struct Taken {
  explicit Taken(Physical& one) : physical(&one) {}
  Taken(const Taken&) = delete;
  ~Taken() {
    if (physical == nullptr) return;
    if (physical->generation == mappings().pool.generation())
      mappings().pool.free(physical->memory, physical->size);
    std::lock_guard lock(registry().mutex);
    registry().use.remove(physical->device, physical->size);
  }

  Physical* physical;
};

Status take_physical(Physical& out) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  RETURN_IF_FAILED(r.use.check_room(out.device, out.size));
  out.memory = mappings().pool.take(out.size);
  if (out.memory == nullptr)
    return fail("out-of-memory"_rule, kRtMemoryAllocation, "size is ", out.size,
                ", and the system has no such memory left");
  r.use.add(out.device, out.size);
  return {};
}

}  // namespace

Status allocate_physical(void** out, size_t size, int32_t device) {
  *out = nullptr;
  RETURN_IF_FAILED(check_size(size));
  std::lock_guard own(mappings().mutex);
  const auto made =
      std::make_shared<Physical>(Physical{device, size, mappings().pool.generation()});
  RETURN_IF_FAILED(take_physical(*made));
  Taken taken(*made);
  *out = physical_memory().insert(made);
  if (*out == nullptr)
    return fail("handle-limit"_rule, kRtResourceAllocFail, "too many handles are alive");
  taken.physical = nullptr;
  return {};
}

Status free_physical(const void* handle) {
  std::lock_guard own(mappings().mutex);
  std::shared_ptr<Physical> physical;
  RETURN_IF_FAILED(find_physical(handle, physical));
  RETURN_IF_FAILED(check_unmapped(*physical));
  physical_memory().erase(handle);
  const Taken returned(*physical);
  return {};
}

namespace {

// Requires mappings().mutex. Whether physical memory can be mapped at this range.
Status check_place(const std::byte* address, size_t size) {
  const auto range = find_reservation(address);
  if (!range) return no_reservation(address);
  RETURN_IF_FAILED(check_multiple("virPtr", number(address)));
  const size_t room = number(range->base) + range->size - number(address);
  if (size > room)
    return fail("map-past-range"_rule, kRtParamInvalid, "size is ", size,
                ", but the reserved range ends ", room, " bytes after virPtr");
  const auto& all = mappings().by_address;
  auto next = all.lower_bound(number(address) + size);
  if (next == all.begin()) return {};
  --next;
  const uintptr_t end = next->first + next->second.size;
  if (end <= number(address)) return {};
  return fail("mapped-twice"_rule, kRtParamInvalid, "memory is mapped already at ",
              hexadecimal(reinterpret_cast<const void*>(next->first)), " to ",
              hexadecimal(reinterpret_cast<const void*>(end)), ", which the ", size,
              " bytes from virPtr on meet");
}

Status check_part(const Physical& physical, size_t size, size_t offset) {
  RETURN_IF_FAILED(check_multiple("offset", offset));
  if (offset > physical.size || size > physical.size - offset)
    return fail("map-past-memory"_rule, kRtParamInvalid, "offset is ", offset, " and size ", size,
                ", but handle has only ", physical.size, " bytes");
  RETURN_IF_FAILED(check_unmapped(physical));
  if (physical.generation == mappings().pool.generation()) return {};
  return fail("memory-lost-in-fork"_rule, kRtParamInvalid,
              "handle is memory of the process that this one was forked from");
}

Status no_more_mappings(size_t size) {
  return fail("out-of-addresses"_rule, kRtMemoryAllocation, "size is ", size,
              ", and the system can keep no more mappings (vm.max_map_count)");
}

// Maps the memory. Allocates the map entries first, so that nothing has changed if memory runs out.
Status enter(std::byte* base, size_t size, size_t offset, std::shared_ptr<Physical> physical) {
  Physical& mapped = *physical;
  std::map<uintptr_t, Mapping> mapping{{number(base), {size, std::move(physical)}}};
  Registry::Allocations allocation{{number(base), {size, Family::mapped, 0, mapped.device}}};
  if (!mappings().pool.map(kernel_address(base), mapped.memory + offset, size))
    return no_more_mappings(size);
  mappings().by_address.insert(mapping.extract(mapping.begin()));
  mapped.mapped_at = base;
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto node = allocation.extract(allocation.begin());
  node.mapped().made = ++r.time;
  r.live.insert(std::move(node));
  return {};
}

}  // namespace

Status map_memory(void* address, size_t size, size_t offset, const void* handle) {
  RETURN_IF_FAILED(check_size(size));
  auto* const base = static_cast<std::byte*>(address);
  std::lock_guard own(mappings().mutex);
  RETURN_IF_FAILED(check_place(base, size));
  std::shared_ptr<Physical> physical;
  RETURN_IF_FAILED(find_physical(handle, physical));
  RETURN_IF_FAILED(check_part(*physical, size, offset));
  RETURN_IF_FAILED(enter(base, size, offset, physical));
  const bool is_new = !std::exchange(physical->was_mapped, true);
  notify(&Observer::allocated, Family::mapped, base, size);
  if (!is_new) notify(&Observer::kept, base, size);
  return {};
}

Status unmap_memory(const void* address) {
  std::lock_guard own(mappings().mutex);
  auto& all = mappings().by_address;
  const auto found = all.find(number(address));
  if (found == all.end()) {
    const auto range = find_reservation(address);
    if (!range) return no_reservation(address);
    const auto block = find_block(address);
    if (!block)
      return fail("memory-unmapped"_rule, kRtParamInvalid,
                  "virPtr has no memory: ", describe_unmapped(address));
    return fail("not-the-first-address"_rule, kRtParamInvalid, "virPtr is ",
                number(address) - number(block->base),
                " bytes into a mapping; pass the address at which it was mapped");
  }
  Physical& physical = *found->second.physical;
  std::byte* const base = physical.mapped_at;
  const size_t size = found->second.size;
  if (!map_nothing(kernel_address(base), size)) return no_more_mappings(size);
  {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    r.live.erase(found->first);
    ++r.time;
  }
  notify(&Observer::releasing, Family::mapped, base, size);
  physical.mapped_at = nullptr;
  all.erase(found);
  return {};
}

}  // namespace softnpu::runtime
