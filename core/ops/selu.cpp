// SPDX-License-Identifier: Apache-2.0
// aclnnSelu: lambda · x above 0, else lambda · alpha · (exp(x) - 1).
#include "ops/selu.h"

#include "aclnnop/aclnn_selu.h"
#include "kernels/selu.h"
#include "kernels/table.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits Selu::kTraits = {
    .name = "aclnnSelu",
    .products = {ascend910_93, ascend910b, ascend910},
    .in_place = true,
};

Status Selu::check_pointers(const Args& a) {
  REQUIRE(a.self, kParamNullptr, "self-null"_rule, "self is null");
  REQUIRE(a.out, kParamNullptr, "out-null"_rule, "out is null");
  return {};
}

Status Selu::check(const Args& a) {
  const Tensor& self = *a.self;
  const Tensor& out = *a.out;
  REQUIRE(out.dtype == self.dtype, kParamInvalid, "dtype-differs"_rule, "out has data type ",
          out.dtype, ", but self has ", self.dtype, "; they must be equal");
  REQUIRE(is_supported_float(self.dtype) || is_one_of(self.dtype, {DType::i32, DType::i8}),
          kParamInvalid, "dtype-unsupported"_rule, "self and out have data type ", self.dtype,
          supported_floats(), ", INT32, INT8");
  for (const Operand& operand : operands(a))
    RETURN_IF_FAILED(check_format(operand.name, *operand.arg));
  REQUIRE(out.sizes == self.sizes, kParamInvalid, "shape-differs"_rule, "out has shape ", out.sizes,
          ", but self has shape ", self.sizes, "; they must be equal");
  return {};
}

Selu::Plan Selu::plan(const Args& a) {
  const Tensor* const tensors[] = {a.self.tensor, a.out.tensor};
  return Plan(tensors, kernels::active_table().selu, kernels::SeluNumbers{});
}

}  // namespace softnpu::ops

using softnpu::ops::Selu;

extern "C" aclnnStatus aclnnSeluGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                 uint64_t* workspaceSize,
                                                 aclOpExecutor** executor) {
  return softnpu::phase_one<Selu>(CALL(self, out, workspaceSize, executor), workspaceSize, executor,
                                  [&](softnpu::Handles& h) -> Selu::Args {
                                    return {.self = h.tensor("self", self),
                                            .out = h.tensor("out", out)};
                                  });
}

extern "C" aclnnStatus aclnnSelu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream) {
  return softnpu::launch_executor(CALL(workspace, workspaceSize, executor, stream), Selu::kTraits,
                                  workspace, workspaceSize, executor, stream);
}
