// SPDX-License-Identifier: Apache-2.0
// Virtual memory: reserved addresses, physical memory, mappings.
#include "acl/acl_rt.h"
#include "base/fault_injection.h"
#include "runtime/context.h"
#include "runtime/entry.h"
#include "runtime/settings.h"
#include "runtime/virtual_memory.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

Status check_flags(uint64_t flags, uint64_t most) {
  if (flags <= most) return {};
  return fail("flag-unknown"_rule, kRtParamInvalid, "flags is ", flags, "; it must be ",
              most == 0 ? "0" : "0 or 1");
}

Status check_field(const char* name, int32_t value, int32_t wanted, const char* documented) {
  if (value == wanted) return {};
  return fail("physical-property"_rule, kRtParamInvalid, "prop->", name, " is ", value,
              "; it must be ", documented, " (", wanted, ")");
}

Status check_prop(const aclrtPhysicalMemProp* prop) {
  if (prop == nullptr) return fail("argument-null"_rule, kRtParamInvalid, "prop is null");
  RETURN_IF_FAILED(check_field("handleType", number_of(prop->handleType), ACL_MEM_HANDLE_TYPE_NONE,
                               "ACL_MEM_HANDLE_TYPE_NONE"));
  RETURN_IF_FAILED(check_field("allocationType", number_of(prop->allocationType),
                               ACL_MEM_ALLOCATION_TYPE_PINNED, "ACL_MEM_ALLOCATION_TYPE_PINNED"));
  const int32_t attr = number_of(prop->memAttr);
  if (attr < ACL_DDR_MEM || attr > ACL_HBM_MEM_NORMAL)
    return fail("memory-attribute"_rule, kRtParamInvalid, "prop->memAttr is ", attr,
                "; it must be one of aclrtMemAttr, 0 to 5");
  RETURN_IF_FAILED(check_field("location.type", number_of(prop->location.type),
                               ACL_MEM_LOCATION_TYPE_DEVICE, "ACL_MEM_LOCATION_TYPE_DEVICE"));
  if (prop->location.id < static_cast<uint32_t>(device_count())) return {};
  return fail("device-id"_rule, kRtInvalidDeviceId, "prop->location.id is ", prop->location.id,
              "; it must be below ", device_count(), ", the number of devices");
}

}  // namespace

extern "C" {

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                uint64_t flags) {
  return entry(CALL(virPtr, size, alignment, expectPtr, flags), [&]() -> Status {
    RETURN_IF_FAILED(store("virPtr", virPtr, nullptr));
    RETURN_IF_FAILED(check_flags(flags, 1));
    if (expectPtr != nullptr)
      return fail("expected-address"_rule, kRtParamInvalid,
                  "expectPtr is not null; the range lies where there is room");
    RETURN_IF_FAILED(require_device());
    return reserve_addresses(virPtr, size, alignment);
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return entry(CALL(virPtr), [&] { return release_addresses(virPtr); });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return entry(CALL(handle, size, prop, flags), [&]() -> Status {
    RETURN_IF_FAILED(store("handle", handle, nullptr));
    RETURN_IF_FAILED(injected_failure(FaultKind::malloc));
    RETURN_IF_FAILED(check_prop(prop));
    RETURN_IF_FAILED(check_flags(flags, 0));
    RETURN_IF_FAILED(require_device());
    return allocate_physical(handle, size, static_cast<int32_t>(prop->location.id));
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return entry(CALL(handle), [&] { return free_physical(handle); });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  return entry(CALL(virPtr, size, offset, handle, flags), [&]() -> Status {
    RETURN_IF_FAILED(check_flags(flags, 0));
    RETURN_IF_FAILED(require_device());
    return map_memory(virPtr, size, offset, handle);
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return entry(CALL(virPtr), [&] { return unmap_memory(virPtr); });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                          aclrtMemGranularityOptions option, size_t* granularity) {
  return entry(CALL(prop, option, granularity), [&]() -> Status {
    RETURN_IF_FAILED(check_prop(prop));
    const int32_t wanted = number_of(option);
    if (wanted != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
        wanted != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
      return fail("granularity-option"_rule, kRtParamInvalid, "option is ", wanted,
                  "; it must be one of aclrtMemGranularityOptions, 0 or 1");
    return store("granularity", granularity, kGranularity);
  });
}

}  // extern "C"
