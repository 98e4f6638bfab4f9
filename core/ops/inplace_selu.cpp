// SPDX-License-Identifier: Apache-2.0
// aclnnInplaceSelu: what aclnnSelu computes, written over its input.
#include "ops/inplace_selu.h"

#include "aclnnop/aclnn_selu.h"
#include "kernels/selu.h"
#include "kernels/table.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits InplaceSelu::kTraits = {
    .name = "aclnnInplaceSelu",
    .products = {ascend910_93, ascend910b, ascend910},
    .in_place = true,
};

Status InplaceSelu::check_pointers(const Args& a) {
  REQUIRE(a.self_ref, kParamNullptr, "self-ref-null"_rule, "selfRef is null");
  return {};
}

Status InplaceSelu::check(const Args& a) {
  const DType type = a.self_ref->dtype;
  REQUIRE(is_supported_float(type) || is_one_of(type, {DType::i32, DType::i8}), kParamInvalid,
          "dtype-unsupported"_rule, "selfRef has data type ", type, supported_floats(),
          ", INT32, INT8");
  return check_format("selfRef", *a.self_ref);
}

InplaceSelu::Plan InplaceSelu::plan(const Args& a) {
  return Plan(*a.self_ref, kernels::active_table().selu, kernels::SeluNumbers{});
}

}  // namespace softnpu::ops

using softnpu::ops::InplaceSelu;

extern "C" aclnnStatus aclnnInplaceSeluGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor) {
  return softnpu::phase_one<InplaceSelu>(CALL(selfRef, workspaceSize, executor), workspaceSize,
                                         executor, [&](softnpu::Handles& h) -> InplaceSelu::Args {
                                           return {.self_ref = h.tensor("selfRef", selfRef)};
                                         });
}

extern "C" aclnnStatus aclnnInplaceSelu(void* workspace, uint64_t workspaceSize,
                                        aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream),
                                  InplaceSelu::kTraits, workspace, workspaceSize, executor, stream);
}
