// SPDX-License-Identifier: Apache-2.0
// Memory: allocation, copies, fills.
#include "acl/acl_rt.h"
#include "runtime/context.h"
#include "runtime/copy.h"
#include "runtime/device.h"
#include "runtime/entry.h"
#include "runtime/machine.h"
#include "runtime/memory.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

aclError allocate_on_device(std::string_view function, void** out, size_t size, int32_t policy) {
  return entry(function, [&]() -> Status {
    if (out != nullptr) *out = nullptr;
    if (policy < ACL_MEM_MALLOC_HUGE_FIRST || policy > ACL_MEM_MALLOC_NORMAL_ONLY_P2P)
      return fail(kRtParamInvalid, "policy is ", policy,
                  "; it must be one of aclrtMemMallocPolicy, 0 to 5");
    RETURN_IF_FAILED(require_device());
    return allocate(Family::device, size, out);
  });
}

// Blocking: does not wait for streams, so their failures are no affair of it.
template <class Operation>
aclError run_now(std::string_view function, const Operation& operation) {
  return entry(function, [&]() -> Status {
    RETURN_IF_FAILED(require_device());
    RETURN_IF_FAILED(operation.check());
    operation.run();
    return {};
  });
}

template <class Operation>
aclError run_in_stream(const char* function, const Operation& operation, aclrtStream stream) {
  return entry(function, [&]() -> Status {
    RETURN_IF_FAILED(require_device());
    const uint64_t time = memory_time();  // earlier than the check, so as to miss nothing
    RETURN_IF_FAILED(operation.check());
    return launch(stream, function, [operation, time]() -> Status {
      if (memory_time() != time) RETURN_IF_FAILED(operation.check(time));
      operation.run();
      return {};
    });
  });
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate_on_device("aclrtMalloc", devPtr, size, number_of(policy));
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate_on_device("aclrtMallocAlign32", devPtr, size, number_of(policy));
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate_on_device("aclrtMallocCached", devPtr, size, number_of(policy));
}

aclError aclrtFree(void* devPtr) {
  return entry("aclrtFree", [&] { return release(Family::device, devPtr); });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
  return entry("aclrtFreeWithDevSync", [&]() -> Status {
    Status waited = wait_for_device({});
    // Memory outlives its device, and then there is nothing to wait for.
    if (!waited.ok() && waited.code() != kRtContextNull) return waited;
    return release(Family::device, devPtr);
  });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return entry("aclrtMallocHost", [&] { return allocate(Family::host, size, hostPtr); });
}

aclError aclrtFreeHost(void* hostPtr) {
  return entry("aclrtFreeHost", [&] { return release(Family::host, hostPtr); });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return entry("aclrtGetMemInfo", [&]() -> Status {
    const int32_t kind = number_of(attr);
    if (kind < ACL_DDR_MEM || kind > ACL_HBM_MEM_NORMAL)
      return fail(kRtParamInvalid, "attr is ", kind, "; it must be one of aclrtMemAttr, 0 to 5");
    RETURN_IF_FAILED(require_device());
    const MemoryInfo info = memory_info();
    RETURN_IF_FAILED(store("free", free, info.free));
    return store("total", total, info.total);
  });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind) {
  return run_now("aclrtMemcpy", Copy{dst, destMax, src, count});
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind,
                          aclrtStream stream) {
  return run_in_stream("aclrtMemcpyAsync", Copy{dst, destMax, src, count}, stream);
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return run_now("aclrtMemset", Fill{devPtr, maxCount, value, count});
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return run_in_stream("aclrtMemsetAsync", Fill{devPtr, maxCount, value, count}, stream);
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind) {
  return run_now("aclrtMemcpy2d", Copy2d{dst, dpitch, src, spitch, width, height});
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind, aclrtStream stream) {
  return run_in_stream("aclrtMemcpy2dAsync", Copy2d{dst, dpitch, src, spitch, width, height},
                       stream);
}

}  // extern "C"
