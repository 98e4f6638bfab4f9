// SPDX-License-Identifier: Apache-2.0
//
// The scaled exponential linear unit.
//
//   out = lambda * x for x > 0, else lambda * alpha * (exp(x) - 1), lambda * alpha = 1.7580993
//
// Run it with: softnpu run selu.cpp
#include "aclnnop/aclnn_selu.h"
#include "example.h"

int main() {
  const example::Session session;
  const std::vector<int64_t> shape = {2, 4};
  const std::vector<float> x = {-3.0f, -1.0f, -0.5f, -1e-6f, 0.0f, 0.5f, 1.0f, 3.0f};
  const example::Tensor<float> self(shape, x);
  const example::Tensor<float> out(shape, std::vector<float>(x.size()));

  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnSeluGetWorkspaceSize(self.get(), out.get(), &workspace_size, &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnSelu(workspace.data(), workspace.size(), executor, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));

  const std::vector<float> result = out.to_host();
  std::printf("%10s %14s\n", "x", "selu(x)");
  for (size_t i = 0; i < x.size(); i++) {
    std::printf("%10g %14.7g\n", x[i], result[i]);
  }
  return 0;
}
