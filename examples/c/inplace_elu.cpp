// SPDX-License-Identifier: Apache-2.0
//
// The exponential linear unit, written over its input: a layer needs no second buffer.
//
//   selfRef = scale * x for x > 0, else alpha * scale * (exp(x * inputScale) - 1)
//
// Run it with: softnpu run inplace_elu.cpp
#include "aclnnop/aclnn_elu.h"
#include "example.h"

int main() {
  const example::Session session;
  const std::vector<int64_t> shape = {2, 4};
  const std::vector<float> x = {-3.0f, -1.0f, -0.5f, -1e-6f, 0.0f, 0.5f, 1.0f, 3.0f};
  const example::Tensor<float> self(shape, x);
  const example::Scalar alpha = example::scalar(1.5f);
  const example::Scalar scale = example::scalar(2.0f);
  const example::Scalar input_scale = example::scalar(1.0f);

  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnInplaceEluGetWorkspaceSize(self.get(), alpha.get(), scale.get(), input_scale.get(),
                                        &workspace_size, &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnInplaceElu(workspace.data(), workspace.size(), executor, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));

  const std::vector<float> result = self.to_host();
  std::printf("%10s %14s\n", "x", "elu(x)");
  for (size_t i = 0; i < x.size(); i++) {
    std::printf("%10g %14.7g\n", x[i], result[i]);
  }
  return 0;
}
