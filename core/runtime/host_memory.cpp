// SPDX-License-Identifier: Apache-2.0
// Memory of the host that operators may use.
#include <mutex>
#include <shared_mutex>

#include "runtime/memory.h"
#include "runtime/registry.h"

namespace softnpu::runtime {
namespace {

Status not_registered(std::string_view argument, const void* address) {
  if (address == nullptr) return fail("address-null"_rule, kRtParamInvalid, argument, " is null");
  return fail("not-registered"_rule, kRtParamInvalid, argument,
              " is not an address of registered memory (aclrtHostRegister)");
}

}  // namespace

Status register_host(void* address, uint64_t size) {
  RETURN_IF_FAILED(check_not_zero(size));
  RETURN_IF_FAILED(check_range("ptr", address, size));
  RETURN_IF_FAILED(check_access("ptr", address, size, Touch::read));
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const uintptr_t first = number(address);
  const auto next = r.registered.lower_bound(first);
  const bool meets_next = next != r.registered.end() && next->first - first < size;
  if (r.usable_around(address) != nullptr || meets_next)
    return fail("registered-twice"_rule, kRtParamInvalid, "some of the ", size,
                " bytes from ptr on are device memory, or registered already");
  r.registered.emplace(first, Allocation{size, Family::host, r.time + 1});
  ++r.time;
  return {};
}

Status unregister_host(const void* address) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  if (r.registered.erase(number(address)) == 0) return not_registered("ptr", address);
  ++r.time;
  return {};
}

Status check_registered(const void* address) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto* const found = r.usable_around(address);
  const bool is_registered = found != nullptr && found->second.family == Family::host;
  return is_registered ? Status() : not_registered("pHost", address);
}

}  // namespace softnpu::runtime
