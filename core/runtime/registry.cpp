// SPDX-License-Identifier: Apache-2.0
#include "runtime/registry.h"

#include <algorithm>
#include <iterator>

#include "base/call.h"

namespace softnpu::runtime {
namespace {

// The entry of a map, by first address, that contains the address.
template <class Map, class Size>
auto around(const Map& map, const void* address, const Size& size) {
  auto next = map.upper_bound(number(address));
  if (next == map.begin()) return map.end();
  --next;
  return number(address) - next->first < size(next->second) ? next : map.end();
}

}  // namespace

Registry::Allocations::const_iterator Registry::containing(const void* address) const {
  return around(live, address, [](const Allocation& one) { return one.size; });
}

const Registry::Allocations::value_type* Registry::usable_around(const void* address) const {
  auto found = containing(address);
  if (found != live.end() && found->second.family != Family::host) return &*found;
  found = around(registered, address, [](const Allocation& one) { return one.size; });
  return found != registered.end() ? &*found : nullptr;
}

uintptr_t Registry::end_of(const Allocations::value_type& first, uint64_t time) const {
  uintptr_t end = first.first + first.second.size;
  if (first.second.family != Family::mapped) return end;
  // Ranges of two reservations never touch, because the arena leaves a gap behind each.
  for (auto next = live.upper_bound(first.first); next != live.end(); ++next) {
    if (next->first != end || next->second.made > time) break;
    end += next->second.size;
  }
  return end;
}

std::map<uintptr_t, size_t>::const_iterator Registry::reserved_around(const void* address) const {
  return around(reserved, address, [](size_t size) { return size; });
}

std::string Registry::unmapped_around(const void* address) const {
  const auto range = reserved_around(address);
  if (range == reserved.end() || containing(address) != live.end()) return "";
  uintptr_t begin = range->first, end = range->first + range->second;
  const auto next = live.upper_bound(number(address));
  if (next != live.end()) end = std::min(end, next->first);
  if (next != live.begin()) {
    const auto before = std::prev(next);
    begin = std::max(begin, before->first + before->second.size);
  }
  std::string text = "no memory is mapped at ";
  append_argument(text, reinterpret_cast<const void*>(begin));
  text += " to ";
  append_argument(text, reinterpret_cast<const void*>(end));
  return text + " (aclrtMapMem)";
}

Status check_not_zero(size_t size) {
  if (size != 0) return {};
  return fail("size-zero"_rule, kRtParamInvalid, "size is 0; it must be above 0");
}

}  // namespace softnpu::runtime
