// SPDX-License-Identifier: Apache-2.0
// aclnnElu: scale · x above 0, else alpha · scale · (exp(x · inputScale) - 1).
#include "ops/elu.h"

#include "aclnnop/aclnn_elu.h"
#include "kernels/elu.h"
#include "kernels/table.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits Elu::kTraits = {
    .name = "aclnnElu",
    .products = {ascend950, ascend910_93, ascend910b, ascend310p, ascend910},
    .in_place = true,
};

Status Elu::check_pointers(const Args& a) {
  REQUIRE(a.self, kParamNullptr, "self-null"_rule, "self is null");
  REQUIRE(a.alpha, kParamNullptr, "alpha-null"_rule, "alpha is null");
  REQUIRE(a.scale, kParamNullptr, "scale-null"_rule, "scale is null");
  REQUIRE(a.input_scale, kParamNullptr, "input-scale-null"_rule, "inputScale is null");
  REQUIRE(a.out, kParamNullptr, "out-null"_rule, "out is null");
  return {};
}

Status Elu::check(const Args& a) {
  const Tensor& self = *a.self;
  const Tensor& out = *a.out;
  REQUIRE(is_supported_float(self.dtype), kParamInvalid, "dtype-unsupported"_rule,
          "self has data type ", self.dtype, supported_floats());
  for (const Operand& operand : operands(a))
    RETURN_IF_FAILED(check_format(operand.name, *operand.arg));
  for (const auto& [name, scalar] :
       {std::pair{"alpha", a.alpha}, {"scale", a.scale}, {"inputScale", a.input_scale}})
    REQUIRE(scalar->converts_to_float(), kParamInvalid, "scalar-type"_rule, name, " has data type ",
            scalar->dtype, ", which does not convert to FLOAT");
  REQUIRE(can_cast(self.dtype, out.dtype), kParamInvalid, "cast"_rule, "out has data type ",
          out.dtype, ", which self's ", self.dtype, " cannot be cast to");
  REQUIRE(out.sizes == self.sizes, kParamInvalid, "shape-differs"_rule, "out has shape ", out.sizes,
          ", but self has shape ", self.sizes, "; they must be equal");
  REQUIRE(self.rank() <= 8, kParamInvalid, "rank"_rule, "self and out have rank ", self.rank(),
          "; at most 8 is supported");
  return {};
}

Elu::Plan Elu::plan(const Args& a) {
  const Tensor* const tensors[] = {a.self.tensor, a.out.tensor};
  return Plan(
      tensors, kernels::active_table().elu,
      kernels::EluNumbers(to_float(*a.alpha), to_float(*a.scale), to_float(*a.input_scale)));
}

}  // namespace softnpu::ops

using softnpu::ops::Elu;

extern "C" aclnnStatus aclnnEluGetWorkspaceSize(const aclTensor* self, const aclScalar* alpha,
                                                const aclScalar* scale, const aclScalar* inputScale,
                                                aclTensor* out, uint64_t* workspaceSize,
                                                aclOpExecutor** executor) {
  return softnpu::phase_one<Elu>(CALL(self, alpha, scale, inputScale, out, workspaceSize, executor),
                                 workspaceSize, executor, [&](softnpu::Handles& h) -> Elu::Args {
                                   return {.self = h.tensor("self", self),
                                           .alpha = h.scalar("alpha", alpha),
                                           .scale = h.scalar("scale", scale),
                                           .input_scale = h.scalar("inputScale", inputScale),
                                           .out = h.tensor("out", out)};
                                 });
}

extern "C" aclnnStatus aclnnElu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream), Elu::kTraits,
                                  workspace, workspaceSize, executor, stream);
}
