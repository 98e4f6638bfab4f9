// SPDX-License-Identifier: Apache-2.0
// aclnnInplaceElu: what aclnnElu computes, written over its input.
#include "ops/inplace_elu.h"

#include "aclnnop/aclnn_elu.h"
#include "kernels/elu.h"
#include "kernels/table.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits InplaceElu::kTraits = {
    .name = "aclnnInplaceElu",
    .products = {ascend950, ascend910_93, ascend910b, ascend310p, ascend910},
    .in_place = true,
};

Status InplaceElu::check_pointers(const Args& a) {
  REQUIRE(a.self_ref, kParamNullptr, "self-ref-null"_rule, "selfRef is null");
  REQUIRE(a.alpha, kParamNullptr, "alpha-null"_rule, "alpha is null");
  REQUIRE(a.scale, kParamNullptr, "scale-null"_rule, "scale is null");
  REQUIRE(a.input_scale, kParamNullptr, "input-scale-null"_rule, "inputScale is null");
  return {};
}

Status InplaceElu::check(const Args& a) {
  const Tensor& self = *a.self_ref;
  REQUIRE(is_supported_float(self.dtype), kParamInvalid, "dtype-unsupported"_rule,
          "selfRef has data type ", self.dtype, supported_floats());
  RETURN_IF_FAILED(check_format("selfRef", self));
  for (const auto& [name, scalar] :
       {std::pair{"alpha", a.alpha}, {"scale", a.scale}, {"inputScale", a.input_scale}})
    REQUIRE(scalar->converts_to_float(), kParamInvalid, "scalar-type"_rule, name, " has data type ",
            scalar->dtype, ", which does not convert to FLOAT");
  REQUIRE(self.rank() <= 8, kParamInvalid, "rank"_rule, "selfRef has rank ", self.rank(),
          "; at most 8 is supported");
  return {};
}

InplaceElu::Plan InplaceElu::plan(const Args& a) {
  return Plan(
      *a.self_ref, kernels::active_table().elu,
      kernels::EluNumbers(to_float(*a.alpha), to_float(*a.scale), to_float(*a.input_scale)));
}

}  // namespace softnpu::ops

using softnpu::ops::InplaceElu;

extern "C" aclnnStatus aclnnInplaceEluGetWorkspaceSize(aclTensor* selfRef, const aclScalar* alpha,
                                                       const aclScalar* scale,
                                                       const aclScalar* inputScale,
                                                       uint64_t* workspaceSize,
                                                       aclOpExecutor** executor) {
  return softnpu::phase_one<InplaceElu>(
      CALL(selfRef, alpha, scale, inputScale, workspaceSize, executor), workspaceSize, executor,
      [&](softnpu::Handles& h) -> InplaceElu::Args {
        return {.self_ref = h.tensor("selfRef", selfRef),
                .alpha = h.scalar("alpha", alpha),
                .scale = h.scalar("scale", scale),
                .input_scale = h.scalar("inputScale", inputScale)};
      });
}

extern "C" aclnnStatus aclnnInplaceElu(void* workspace, uint64_t workspaceSize,
                                       aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream),
                                  InplaceElu::kTraits, workspace, workspaceSize, executor, stream);
}
