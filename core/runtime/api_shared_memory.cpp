// SPDX-License-Identifier: Apache-2.0
// Device memory that processes share by keys.
#include <unistd.h>

#include <cstring>

#include "acl/acl_rt.h"
#include "runtime/context.h"
#include "runtime/entry.h"
#include "runtime/memory.h"
#include "runtime/shared_memory.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

constexpr size_t kKeyBytes = 65;

Status check_flags(uint64_t flags) {
  if (flags <= 1) return {};
  return fail("flag-unknown"_rule, kRtParamInvalid, "flags is ", flags, "; it must be 0 or 1");
}

Status check_key(const char* key) {
  if (key == nullptr) return fail("address-null"_rule, kRtParamInvalid, "key is null");
  return require_device();
}

}  // namespace

extern "C" {

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
  return entry(CALL(devPtr, size, len, flags), [&]() -> Status {
    RETURN_IF_FAILED(check_key(key));
    if (len < kKeyBytes)
      return fail("ipc-key-length"_rule, kRtParamInvalid, "len is ", len, "; it must be at least ",
                  kKeyBytes);
    RETURN_IF_FAILED(check_flags(flags));
    std::string made;
    RETURN_IF_FAILED(export_memory(devPtr, size, flags != 0, made));
    std::memcpy(key, made.c_str(), made.size() + 1);
    return {};
  });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
  return entry(CALL(key, pid, num), [&]() -> Status {
    RETURN_IF_FAILED(check_key(key));
    if (pid == nullptr) return fail("address-null"_rule, kRtParamInvalid, "pid is null");
    return allow_processes(key, {pid, num});
  });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
  return entry(CALL(devPtr, key, flags), [&]() -> Status {
    RETURN_IF_FAILED(store("devPtr", devPtr, nullptr));
    RETURN_IF_FAILED(check_key(key));
    RETURN_IF_FAILED(check_flags(flags));
    return import_memory(key, devPtr);
  });
}

aclError aclrtIpcMemClose(const char* key) {
  return entry(CALL(key), [&]() -> Status {
    RETURN_IF_FAILED(check_key(key));
    return close_shared_memory(key);
  });
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return entry(CALL(pid), [&] { return store("pid", pid, getpid()); });
}

}  // extern "C"
