// SPDX-License-Identifier: Apache-2.0
// Devices, contexts and system parameters.
#include "acl/acl_rt.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/entry.h"
#include "runtime/settings.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

template <class Body>
aclError with_context(const Call& call, Body&& body) {
  return entry(call, [&]() -> Status {
    std::shared_ptr<Context> context;
    RETURN_IF_FAILED(current_context(context));
    return body(*context);
  });
}

}  // namespace

extern "C" {

aclError aclrtGetDeviceCount(uint32_t* count) {
  return entry(CALL(count), [&] { return store("count", count, device_count()); });
}

aclError aclrtSetDevice(int32_t deviceId) {
  return entry(CALL(deviceId), [&] { return set_device(deviceId); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return with_context(CALL(deviceId), [&](const Context& current) {
    return store("deviceId", deviceId, current.device());
  });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return entry(CALL(deviceId), [&] { return reset_device(deviceId, Reset::once); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return entry(CALL(deviceId), [&] { return reset_device(deviceId, Reset::by_force); });
}

aclError aclrtSynchronizeDevice() {
  return entry(CALL(), [] { return synchronize_device({}); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return entry_until(CALL(timeout), timeout, synchronize_device);
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return entry(CALL(context, deviceId), [&] { return create_context(deviceId, context); });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return entry(CALL(context), [&] { return destroy_context(context); });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return entry(CALL(context), [&] { return set_current_context(context); });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return with_context(CALL(context), [&](const Context& current) {
    return store("context", context, current.handle());
  });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return with_context(CALL(stream), [&](const Context& current) {
    return store("stream", stream, current.default_stream()->handle());
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return with_context(CALL(opt, value), [&](Context& current) {
    return current.params().set(number_of(opt), value);
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return with_context(CALL(opt, value), [&](Context& current) -> Status {
    std::optional<int64_t> found;
    RETURN_IF_FAILED(current.params().get(number_of(opt), found));
    if (!found)
      return fail("option-not-set"_rule, kRtSysParamOptNotSet, "opt ", number_of(opt),
                  " was never set in the current context");
    return store("value", value, *found);
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return entry(CALL(opt, value), [&] { return process_params().set(number_of(opt), value); });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return entry(CALL(opt, value), [&]() -> Status {
    std::optional<int64_t> found;
    RETURN_IF_FAILED(process_params().get(number_of(opt), found));
    return store("value", value, found.value_or(0));
  });
}

}  // extern "C"
