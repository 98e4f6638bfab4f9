// SPDX-License-Identifier: Apache-2.0
// Start and end, the machine, devices, contexts, settings.
#include <iterator>

#include "calls.h"

namespace fuzz {
namespace {

const char* const kConfigs[] = {"",     "/nowhere/acl.json", "/dev/null", "/proc/self/status",
                                "/tmp", "/proc/self/mem",    CONFIG,      nullptr};

// Mostly to the default context of device 0, where most of the streams are.
void go_back(State& s) {
  if (!s.in.once_in(6)) CALL(aclrtSetDevice, 0);
}

void init(State& s) { CALL(aclInit, s.in.one_of(kConfigs)); }
void finalize(State& s) {
  s.others_run = true;
  s.let_waits_end();
  CALL(aclFinalize);
  if (!s.in.once_in(4)) CALL(aclInit, nullptr);
  go_back(s);
}
void recent_message(State&) { CALL(aclGetRecentErrMsg); }
void soc_name(State&) { expect(CALL(aclrtGetSocName) != nullptr, "a name", "aclrtGetSocName"); }
void device_info(State& s) {
  int64_t value = 1;
  CALL(aclrtGetDeviceInfo, s.in.once_in(8) ? s.in.bits<uint32_t>() : 0,
       static_cast<aclrtDevAttr>(s.in.enumerator(3)), s.out(value));
  expect(value > 0, "a number above 0", "aclrtGetDeviceInfo", value);
}
void device_capability(State& s) {
  int64_t value = 1;
  CALL(aclGetDeviceCapability, s.in.once_in(8) ? s.in.bits<uint32_t>() : 0,
       static_cast<aclDeviceInfo>(s.in.enumerator(3)), s.out(value));
}
void runtime_device_capability(State& s) {
  int64_t value = 1;
  CALL(aclrtGetDeviceCapability, s.in.once_in(8) ? s.in.bits<uint32_t>() : 0,
       static_cast<aclDeviceInfo>(s.in.enumerator(3)), s.out(value));
}
void model_dir(State& s) { CALL(aclopSetModelDir, s.in.one_of(kConfigs)); }
void version(State& s) {
  int32_t numbers[3];
  CALL(aclrtGetVersion, s.out(numbers[0]), s.out(numbers[1]), s.out(numbers[2]));
}
void run_mode(State& s) {
  aclrtRunMode mode;
  CALL(aclrtGetRunMode, s.out(mode));
}
void last_error(State& s) {
  CALL(aclrtGetLastError, static_cast<aclrtLastErrLevel>(s.in.enumerator(1)));
}
void peek_at_last_error(State& s) {
  CALL(aclrtPeekAtLastError, static_cast<aclrtLastErrLevel>(s.in.enumerator(1)));
}
void type_size(State& s) { CALL(aclDataTypeSize, static_cast<aclDataType>(s.in.enumerator(34))); }
void to_half(State& s) { CALL(aclFloatToFloat16, s.in.bits<float>()); }
void to_float(State& s) { CALL(aclFloat16ToFloat, s.in.bits<uint16_t>()); }

int32_t device(State& s) { return s.in.once_in(6) ? s.in.enumerator(2) : 0; }

void device_count(State& s) {
  uint32_t count;
  CALL(aclrtGetDeviceCount, s.out(count));
}
void set_device(State& s) { CALL(aclrtSetDevice, device(s)); }
void get_device(State& s) {
  int32_t id;
  CALL(aclrtGetDevice, s.out(id));
}
void reset_device(State& s) {
  s.others_run = true;
  s.let_waits_end();
  CALL(aclrtResetDevice, device(s));
  go_back(s);
}
void reset_device_by_force(State& s) {
  s.others_run = true;
  CALL(aclrtResetDeviceForce, device(s));
  go_back(s);
}
void synchronize_device(State& s) {
  s.let_waits_end();
  CALL(aclrtSynchronizeDevice);
}
void synchronize_device_in_time(State& s) {
  CALL(aclrtSynchronizeDeviceWithTimeout, s.in.once_in(3) ? 0 : 1);
}

void create_context(State& s) {
  aclrtContext context = nullptr;
  if (CALL(aclrtCreateContext, s.out(context), device(s)) == 0) s.add(kContext, {context});
  go_back(s);
}
void destroy_context(State& s) {
  s.others_run = true;
  s.let_waits_end();
  void* context = s.pick(kContext);
  destroy_thing(s, kContext, context);
  go_back(s);
}
void set_context(State& s) {
  void* context = s.pick(kContext);
  CALL(aclrtSetCurrentContext, context);
  go_back(s);
}
void get_context(State& s) {
  aclrtContext context = nullptr;
  CALL(aclrtGetCurrentContext, s.out(context));
}
void default_stream(State& s) {
  aclrtStream stream = nullptr;
  if (CALL(aclrtCtxGetCurrentDefaultStream, s.out(stream)) == 0) s.add(kStream, {stream});
}

aclSysParamOpt option(State& s) { return static_cast<aclSysParamOpt>(s.in.enumerator(3)); }

void set_context_option(State& s) { CALL(aclrtCtxSetSysParamOpt, option(s), s.in.number()); }
void get_context_option(State& s) {
  int64_t value;
  CALL(aclrtCtxGetSysParamOpt, option(s), s.out(value));
}
void set_option(State& s) { CALL(aclrtSetSysParamOpt, option(s), s.in.number()); }
void get_option(State& s) {
  int64_t value;
  CALL(aclrtGetSysParamOpt, option(s), s.out(value));
}

void can_access_peer(State& s) {
  int32_t can = 0;
  const int status = CALL(aclrtDeviceCanAccessPeer, s.out(can), device(s), 1);
  expect(status != 0 || can == 1, "access", "aclrtDeviceCanAccessPeer", can);
}
void enable_peer(State& s) {
  CALL(aclrtDeviceEnablePeerAccess, device(s) ^ 1, s.in.once_in(8) ? s.in.bits<uint32_t>() : 0);
}
void disable_peer(State& s) { CALL(aclrtDeviceDisablePeerAccess, device(s) ^ 1); }
void process_id(State& s) {
  int32_t pid;
  CALL(aclrtDeviceGetBareTgid, s.out(pid));
}

constexpr Call kCalls[] = {
    {"aclInit", init, 8},
    {"aclFinalize", finalize, 8},
    {"aclGetRecentErrMsg", recent_message},
    {"aclrtGetSocName", soc_name},
    {"aclrtGetDeviceInfo", device_info},
    {"aclGetDeviceCapability", device_capability},
    {"aclrtGetDeviceCapability", runtime_device_capability},
    {"aclopSetModelDir", model_dir},
    {"aclrtGetVersion", version},
    {"aclrtGetRunMode", run_mode},
    {"aclrtGetLastError", last_error},
    {"aclrtPeekAtLastError", peek_at_last_error},
    {"aclDataTypeSize", type_size},
    {"aclFloatToFloat16", to_half},
    {"aclFloat16ToFloat", to_float},
    {"aclrtGetDeviceCount", device_count},
    {"aclrtSetDevice", set_device},
    {"aclrtGetDevice", get_device},
    {"aclrtResetDevice", reset_device, 2},
    {"aclrtResetDeviceForce", reset_device_by_force, 4},
    {"aclrtDeviceCanAccessPeer", can_access_peer},
    {"aclrtDeviceEnablePeerAccess", enable_peer},
    {"aclrtDeviceDisablePeerAccess", disable_peer},
    {"aclrtDeviceGetBareTgid", process_id},
    {"aclrtSynchronizeDevice", synchronize_device},
    {"aclrtSynchronizeDeviceWithTimeout", synchronize_device_in_time, 4},
    {"aclrtCreateContext", create_context},
    {"aclrtDestroyContext", destroy_context},
    {"aclrtSetCurrentContext", set_context},
    {"aclrtGetCurrentContext", get_context},
    {"aclrtCtxGetCurrentDefaultStream", default_stream},
    {"aclrtCtxSetSysParamOpt", set_context_option},
    {"aclrtCtxGetSysParamOpt", get_context_option},
    {"aclrtSetSysParamOpt", set_option},
    {"aclrtGetSysParamOpt", get_option},
};

}  // namespace

Room device_calls() { return {kCalls, std::size(kCalls)}; }

void make_context(State& s) {
  aclrtContext context = nullptr;
  if (CALL(aclrtCreateContext, &context, 0) == 0) s.add(kContext, {context});
  CALL(aclrtSetDevice, 0);
}

}  // namespace fuzz
