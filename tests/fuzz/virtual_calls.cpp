// SPDX-License-Identifier: Apache-2.0
// Virtual memory, and a model of what is mapped where.
#include <algorithm>
#include <iterator>

#include "calls.h"

namespace fuzz {
namespace {

constexpr size_t kUnit = size_t{2} << 20;

// Mostly some units.
size_t size_of(State& s, size_t most) {
  if (!s.in.once_in(16)) return kUnit * (1 + s.in.below(most));
  const auto size = static_cast<size_t>(s.in.number());
  return size > 64 * kUnit && size < (size_t{1} << 48) ? SIZE_MAX - size : size;
}

aclrtPhysicalMemProp prop_of(State& s) {
  aclrtPhysicalMemProp prop = {};
  prop.memAttr = static_cast<aclrtMemAttr>(s.in.enumerator(6));
  prop.location = {s.in.byte() % 2u, ACL_MEM_LOCATION_TYPE_DEVICE};
  if (s.in.once_in(32)) prop.location.id = s.in.bits<uint32_t>();
  if (s.in.once_in(32)) prop.location.type = static_cast<aclrtMemLocationType>(s.in.byte());
  if (s.in.once_in(32)) prop.handleType = static_cast<aclrtMemHandleType>(s.in.byte());
  if (s.in.once_in(32)) prop.allocationType = static_cast<aclrtMemAllocationType>(s.in.byte());
  return prop;
}

uint64_t flags_of(State& s) { return s.in.once_in(24) ? s.in.byte() : 0; }

Mapping* mapping_with(State& s, const void* address, const void* physical) {
  const auto found = std::find_if(s.mappings.begin(), s.mappings.end(), [&](const Mapping& each) {
    return each.address == address || each.physical == physical;
  });
  return found == s.mappings.end() ? nullptr : &*found;
}

// Addresses may be made up: they are numbers, and what they end at may be past all memory.
uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

bool meets_mapping(const State& s, uintptr_t begin, size_t bytes) {
  return std::any_of(s.mappings.begin(), s.mappings.end(), [&](const Mapping& each) {
    const uintptr_t other = number(each.address);
    return begin < other ? other - begin < bytes : begin - other < each.bytes;
  });
}

bool is_reserved(const State& s, uintptr_t address, size_t bytes) {
  return std::any_of(s.things[kReservation].begin(), s.things[kReservation].end(),
                     [&](const Thing& each) {
                       const auto begin = reinterpret_cast<uintptr_t>(each.value);
                       return each.is_live && address >= begin && address - begin < each.bytes &&
                              bytes <= each.bytes - (address - begin);
                     });
}

void reserve(State& s) {
  static const size_t kAlignments[] = {0, 0, 0, 0, 64, 2 * kUnit, 3, size_t{1} << 63};
  void* address = nullptr;
  const size_t size = size_of(s, 8);
  const size_t alignment = s.in.one_of(kAlignments);
  void* expected = s.in.once_in(32) ? s.pick(kReservation) : nullptr;
  const int status =
      CALL(aclrtReserveMemAddress, s.out(address), size, alignment, expected, flags_of(s));
  expect((status == 0) == (address != nullptr), "addresses exactly on success", "", status);
  // Rounded up.
  if (status == 0) s.add(kReservation, {address, true, (size + kUnit - 1) / kUnit * kUnit});
}

void release(State& s) {
  if (!s.is_quiet()) return;
  void* const address = s.pick(kReservation);
  const Thing* thing = s.find(kReservation, address);
  if (thing == nullptr || !meets_mapping(s, number(address), thing->bytes))
    return destroy_thing(s, kReservation, address);
  expect(CALL(aclrtReleaseMemAddress, address) != 0, "mapped addresses to be kept");
}

void malloc_physical(State& s) {
  void* handle = nullptr;
  const size_t size = size_of(s, 4);
  const aclrtPhysicalMemProp prop = prop_of(s);
  const int status = CALL(aclrtMallocPhysical, s.out(handle), size,
                          s.in.once_in(32) ? nullptr : &prop, flags_of(s));
  expect((status == 0) == (handle != nullptr), "a handle exactly on success", "", status);
  if (status == 0) s.add(kPhysical, {handle, true, size});
}

void free_physical(State& s) {
  void* handle = s.pick(kPhysical);
  if (mapping_with(s, nullptr, handle) == nullptr) return destroy_thing(s, kPhysical, handle);
  expect(CALL(aclrtFreePhysical, handle) != 0, "mapped memory to be kept");
}

void map(State& s) {
  const uintptr_t range = number(s.pick(kReservation));
  const uintptr_t at = range + kUnit * s.in.below(8) + (s.in.once_in(24) ? 64 : 0);
  auto* const address = reinterpret_cast<std::byte*>(at);
  void* handle = s.pick(kPhysical);
  const Thing* physical = s.find(kPhysical, handle);
  const bool whole = physical != nullptr && !s.in.once_in(4);
  const size_t size = whole ? physical->bytes : size_of(s, 4);
  const size_t offset = s.in.once_in(6) ? kUnit * s.in.below(4) : 0;
  const uint64_t flags = flags_of(s);
  const bool fits = physical != nullptr && size > 0 && offset <= physical->bytes &&
                    size <= physical->bytes - offset && is_reserved(s, at, size);
  const bool is_right = fits && flags == 0 && at % kUnit == 0 && size % kUnit == 0 &&
                        mapping_with(s, nullptr, handle) == nullptr && !meets_mapping(s, at, size);
  const int status = CALL(aclrtMapMem, address, size, offset, handle, flags);
  if (status == 0)
    expect(is_right, "only what is right to be mapped", "aclrtMapMem");
  else if (is_right)
    expect(status == ACL_ERROR_RT_CONTEXT_NULL || is_shortage(status), "success", "aclrtMapMem",
           status);
  if (status == 0) s.mappings.push_back({address, size, handle});
}

void unmap(State& s) {
  if (!s.is_quiet()) return;
  void* address = s.mappings.empty() || s.in.once_in(8)
                      ? reinterpret_cast<void*>(number(s.pick(kReservation)) + s.in.byte())
                      : s.mappings[s.in.byte() % s.mappings.size()].address;
  Mapping* const found = mapping_with(s, address, nullptr);
  const int status = CALL(aclrtUnmapMem, address);
  expect((status == 0) == (found != nullptr), "only mapped memory to be unmapped", "", status);
  if (status == 0) s.mappings.erase(s.mappings.begin() + (found - s.mappings.data()));
}

void granularity(State& s) {
  aclrtPhysicalMemProp prop = prop_of(s);
  size_t bytes = kUnit;
  CALL(aclrtMemGetAllocationGranularity, s.in.once_in(32) ? nullptr : &prop,
       static_cast<aclrtMemGranularityOptions>(s.in.enumerator(2)), s.out(bytes));
  expect(bytes == kUnit, "the granularity", "aclrtMemGetAllocationGranularity");
}

constexpr Call kCalls[] = {
    {"aclrtReserveMemAddress", reserve},
    {"aclrtReleaseMemAddress", release},
    {"aclrtMallocPhysical", malloc_physical},
    {"aclrtFreePhysical", free_physical},
    {"aclrtMapMem", map},
    {"aclrtUnmapMem", unmap},
    {"aclrtMemGetAllocationGranularity", granularity},
};

}  // namespace

Room virtual_calls() { return {kCalls, std::size(kCalls)}; }

void make_reservation(State& s) {
  const size_t size = kUnit * (1 + s.in.below(8));
  void* address = nullptr;
  if (CALL(aclrtReserveMemAddress, &address, size, 0, nullptr, 0) == 0)
    s.add(kReservation, {address, true, size});
}
void make_physical(State& s) {
  const size_t size = kUnit * (1 + s.in.below(2));
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  void* handle = nullptr;
  if (CALL(aclrtMallocPhysical, &handle, size, &prop, 0) == 0)
    s.add(kPhysical, {handle, true, size});
}

}  // namespace fuzz
