// SPDX-License-Identifier: Apache-2.0
// Memory: allocation, copies, fills.
#include "acl/acl_rt.h"
#include "base/fault_injection.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/copy.h"
#include "runtime/copy_work.h"
#include "runtime/device.h"
#include "runtime/entry.h"
#include "runtime/memory.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

aclError allocate_on_device(const Call& call, void** out, size_t size, int32_t policy) {
  return entry(call, [&]() -> Status {
    if (out != nullptr) *out = nullptr;
    RETURN_IF_FAILED(injected_failure(FaultKind::malloc));
    if (policy < ACL_MEM_MALLOC_HUGE_FIRST || policy > ACL_MEM_MALLOC_NORMAL_ONLY_P2P)
      return fail("malloc-policy"_rule, kRtParamInvalid, "policy is ", policy,
                  "; it must be one of aclrtMemMallocPolicy, 0 to 5");
    std::shared_ptr<Context> context;
    RETURN_IF_FAILED(current_context(context));
    return allocate(context->device(), size, out);
  });
}

template <class Operation>
constexpr FaultKind kFault =
    Operation::kKind == Piece::Kind::fill ? FaultKind::memset : FaultKind::memcpy;

template <class Operation>
void tell_direction(const Operation& operation) {
  if constexpr (Operation::kKind == Piece::Kind::copy)
    if (!operation.is_empty())
      notify(&Observer::copies, operation.dst, operation.src, operation.kind);
}

// Blocking operations do not wait for streams, and do not report their failures.
template <class Operation>
aclError run_now(const Call& call, const Operation& operation) {
  return entry(call, [&]() -> Status {
    RETURN_IF_FAILED(injected_failure(kFault<Operation>));
    RETURN_IF_FAILED(require_device());
    RETURN_IF_FAILED(require_no_capture());
    RETURN_IF_FAILED(operation.check());
    tell_direction(operation);
    run_observed(call, operation);
    return {};
  });
}

template <class Operation>
aclError run_in_stream(const Call& call, const Operation& operation, aclrtStream stream) {
  return entry(call, [&]() -> Status {
    RETURN_IF_FAILED(injected_failure(kFault<Operation>));
    RETURN_IF_FAILED(require_device());
    const uint64_t time = memory_time();  // before the check, so that no release is missed
    RETURN_IF_FAILED(operation.check());
    tell_direction(operation);
    return launch_operation(call, operation, time, stream);
  });
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate_on_device(CALL(devPtr, size, policy), devPtr, size, number_of(policy));
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate_on_device(CALL(devPtr, size, policy), devPtr, size, number_of(policy));
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return allocate_on_device(CALL(devPtr, size, policy), devPtr, size, number_of(policy));
}

aclError aclrtFree(void* devPtr) {
  return entry(CALL(devPtr), [&] { return release(Family::device, devPtr); });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
  return entry(CALL(devPtr), [&]() -> Status {
    Status waited = wait_for_device({});
    // Memory outlives its device; then there is nothing to wait for.
    if (!waited.ok() && waited.code() != kRtContextNull) return waited;
    return release(Family::device, devPtr);
  });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return entry(CALL(hostPtr, size), [&]() -> Status {
    if (hostPtr != nullptr) *hostPtr = nullptr;
    RETURN_IF_FAILED(injected_failure(FaultKind::malloc_host));
    return allocate(kHost, size, hostPtr);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return entry(CALL(hostPtr), [&] { return release(Family::host, hostPtr); });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return entry(CALL(attr, free, total), [&]() -> Status {
    const int32_t kind = number_of(attr);
    if (kind < ACL_DDR_MEM || kind > ACL_HBM_MEM_NORMAL)
      return fail("memory-attribute"_rule, kRtParamInvalid, "attr is ", kind,
                  "; it must be one of aclrtMemAttr, 0 to 5");
    std::shared_ptr<Context> context;
    RETURN_IF_FAILED(current_context(context));
    RETURN_IF_FAILED(store("free", free, free_memory(context->device())));
    return store("total", total, device_memory());
  });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return run_now(CALL(dst, destMax, src, count, kind),
                 Copy{dst, destMax, src, count, number_of(kind)});
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return run_in_stream(CALL(dst, destMax, src, count, kind, stream),
                       Copy{dst, destMax, src, count, number_of(kind)}, stream);
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return run_now(CALL(devPtr, maxCount, value, count), Fill{devPtr, maxCount, value, count});
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return run_in_stream(CALL(devPtr, maxCount, value, count, stream),
                       Fill{devPtr, maxCount, value, count}, stream);
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  return run_now(CALL(dst, dpitch, src, spitch, width, height, kind),
                 Copy2d{dst, dpitch, src, spitch, width, height, number_of(kind)});
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return run_in_stream(CALL(dst, dpitch, src, spitch, width, height, kind, stream),
                       Copy2d{dst, dpitch, src, spitch, width, height, number_of(kind)}, stream);
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return entry(CALL(src, size, cmoType, stream), [&]() -> Status {
    if (number_of(cmoType) < ACL_RT_CMO_TYPE_PREFETCH || number_of(cmoType) > ACL_RT_CMO_TYPE_FLUSH)
      return fail("flag-unknown"_rule, kRtParamInvalid, "cmoType is ", number_of(cmoType),
                  "; it must be one of aclrtCmoType, 0 to 3");
    RETURN_IF_FAILED(check_not_zero(size));
    RETURN_IF_FAILED(check_range("src", src, size));
    std::shared_ptr<Stream> found;
    return find_stream(stream, found);
  });
}

}  // extern "C"
