// SPDX-License-Identifier: Apache-2.0
#include "runtime/mappings.h"

#include <memory>
#include <string>

#include "base/call.h"
#include "base/lasting.h"
#include "runtime/registry.h"
#include "runtime/virtual_memory.h"

namespace softnpu::runtime {

PhysicalTable& physical_memory() { return lasting<PhysicalTable>; }
Mappings& mappings() { return lasting<Mappings>; }

// A forked child must not write to physical memory, which it shares with its parent. It has no
// other threads.
void Mappings::renew_in_forked_child() noexcept {
  std::construct_at(&mutex);
  for (auto& [address, mapping] : by_address) {
    map_nothing(kernel_address(mapping.physical->mapped_at), mapping.size);
    mapping.physical->mapped_at = nullptr;
    registry().live.erase(address);
    ++registry().time;
  }
  by_address.clear();
  pool.renew();
}

std::string hexadecimal(const void* address) {
  std::string out;
  append_argument(out, address);
  return out;
}

Status check_multiple(std::string_view name, size_t value) {
  if (value % kGranularity == 0) return {};
  return fail("granularity"_rule, kRtParamInvalid, name, " is ", value,
              "; it must be a multiple of ", kGranularity, ", the granularity of allocations");
}

Status check_size(size_t size) {
  RETURN_IF_FAILED(check_not_zero(size));
  return check_multiple("size", size);
}

Status find_physical(const void* handle, std::shared_ptr<Physical>& out) {
  out = physical_memory().find(handle);
  return out ? Status() : dead_handle("handle", handle, HandleKind::physical_memory);
}

Status check_unmapped(const Physical& physical) {
  if (physical.mapped_at == nullptr) return {};
  return fail("still-mapped"_rule, kRtParamInvalid, "handle is mapped at ",
              hexadecimal(physical.mapped_at), "; unmap it first (aclrtUnmapMem)");
}

}  // namespace softnpu::runtime
