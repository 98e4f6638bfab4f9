// SPDX-License-Identifier: Apache-2.0
// Memory of the host that operators may use, where an address is, and what devices may reach.
#include "acl/acl_rt.h"
#include "base/page_size.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/entry.h"
#include "runtime/memory.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

Status check_flag(std::string_view name, uint32_t flag, uint32_t known) {
  if ((flag & ~known) == 0) return {};
  return fail("flag-unknown"_rule, kRtParamInvalid, name, " is ", flag,
              "; it must have no other bits than ", known);
}

Status check_peer(std::string_view name, int32_t peer, int32_t device) {
  RETURN_IF_FAILED(check_device(peer));
  if (peer != device) return {};
  return fail("peer-device"_rule, kRtParamInvalid, name, " is ", peer,
              ", which is the device itself; it must be another one");
}

aclError with_peer(const Call& call, int32_t peer, uint32_t flags) {
  return entry(call, [&]() -> Status {
    std::shared_ptr<Context> context;
    RETURN_IF_FAILED(current_context(context));
    RETURN_IF_FAILED(check_peer("peerDeviceId", peer, context->device()));
    return check_flag("flags", flags, 0);
  });
}

}  // namespace

extern "C" {

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return entry(CALL(ptr, size, type, devPtr), [&]() -> Status {
    if (devPtr == nullptr)
      return fail("output-pointer-null"_rule, kRtParamInvalid, "devPtr is null");
    *devPtr = nullptr;
    if (number_of(type) != ACL_HOST_REGISTER_MAPPED)
      return fail("flag-unknown"_rule, kRtParamInvalid, "type is ", number_of(type),
                  "; it must be ACL_HOST_REGISTER_MAPPED (0)");
    RETURN_IF_FAILED(require_device());
    RETURN_IF_FAILED(register_host(ptr, size));
    *devPtr = ptr;
    return {};
  });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return entry(CALL(ptr, size, flag), [&]() -> Status {
    RETURN_IF_FAILED(check_flag("flag", flag, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED));
    RETURN_IF_FAILED(require_device());
    return register_host(ptr, size);
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return entry(CALL(ptr), [&] { return unregister_host(ptr); });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  return entry(CALL(pHost, pDevice, flag), [&]() -> Status {
    RETURN_IF_FAILED(store("pDevice", pDevice, nullptr));
    RETURN_IF_FAILED(check_flag("flag", flag, 0));
    RETURN_IF_FAILED(check_registered(pHost));
    return store("pDevice", pDevice, pHost);
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return entry(CALL(ptr, attributes), [&]() -> Status {
    if (ptr == nullptr) return fail("address-null"_rule, kRtParamInvalid, "ptr is null");
    aclrtPtrAttributes found = {};
    found.pageSize = static_cast<uint32_t>(page_size());
    const auto device = device_of(ptr);
    found.location.type = !device            ? ACL_MEM_LOCATION_TYPE_UNREGISTERED
                          : *device == kHost ? ACL_MEM_LOCATION_TYPE_HOST
                                             : ACL_MEM_LOCATION_TYPE_DEVICE;
    if (found.location.type == ACL_MEM_LOCATION_TYPE_DEVICE)
      found.location.id = static_cast<uint32_t>(*device);
    return store("attributes", attributes, found);
  });
}

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return entry(CALL(canAccessPeer, deviceId, peerDeviceId), [&]() -> Status {
    RETURN_IF_FAILED(check_device(deviceId));
    RETURN_IF_FAILED(check_peer("peerDeviceId", peerDeviceId, deviceId));
    return store("canAccessPeer", canAccessPeer, 1);
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return with_peer(CALL(peerDeviceId, flags), peerDeviceId, flags);
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return with_peer(CALL(peerDeviceId), peerDeviceId, 0);
}

}  // extern "C"
