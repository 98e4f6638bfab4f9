// SPDX-License-Identifier: Apache-2.0
// libnnopbase: the C API's functions on aclOpExecutor, and aclnnInit.
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "executor/executor.h"
#include "tensor/entry.h"

namespace softnpu {
namespace {

template <class Body>
aclnnStatus with_executor(const Call& call, const void* handle, Body&& body) {
  return guard(call, kEntryCodes, [&]() -> Status {
    if (handle == nullptr) return fail("executor-null"_rule, kInnerNullptr, "executor is null");
    const auto executor = executors().find(handle);
    if (executor == nullptr)
      return fail("executor-unknown"_rule, kParamInvalid, "executor is ",
                  describe_handle(handle, HandleKind::executor),
                  "; expected one from phase one that was not consumed");
    return body(*executor);
  });
}

aclnnStatus set_address(const Call& call, Counted counted, aclOpExecutor* executor, size_t index,
                        aclTensor* tensor, void* address) {
  return with_executor(call, executor, [&](Executor& live) -> Status {
    if (tensor == nullptr) return fail("tensor-null"_rule, kInnerNullptr, "tensor is null");
    return live.set_address(counted, index, tensor, address);
  });
}

aclnnStatus set_repeatable(const Call& call, aclOpExecutor* executor) {
  return with_executor(call, executor, [](Executor& live) -> Status {
    live.set_repeatable();
    return {};
  });
}

}  // namespace
}  // namespace softnpu

using namespace softnpu;

extern "C" {

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return set_repeatable(CALL(executor), executor);
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return with_executor(CALL(executor), executor, [&](Executor&) -> Status {
    if (executors().erase(executor) == nullptr)
      return fail("executor-unknown"_rule, kParamInvalid,
                  "executor was destroyed by another thread");
    return {};
  });
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return set_address(CALL(executor, index, tensor, addr), Counted::inputs, executor, index, tensor,
                     addr);
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return set_address(CALL(executor, index, tensor, addr), Counted::outputs, executor, index, tensor,
                     addr);
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return set_address(CALL(executor, index, tensor, addr), Counted::all, executor, index, tensor,
                     addr);
}

aclnnStatus AclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return set_repeatable(CALL(executor), executor);
}

aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return set_address(CALL(executor, index, tensor, addr), Counted::inputs, executor, index, tensor,
                     addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return set_address(CALL(executor, index, tensor, addr), Counted::outputs, executor, index, tensor,
                     addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return set_address(CALL(executor, index, tensor, addr), Counted::all, executor, index, tensor,
                     addr);
}

// Operators need no initialisation; the argument is the path of a configuration file.
aclnnStatus aclnnInit(const char*) { return kSuccess; }
aclnnStatus aclnnFinalize(void) { return kSuccess; }

}  // extern "C"
