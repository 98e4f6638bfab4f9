// SPDX-License-Identifier: Apache-2.0
//
// The gradient of elu, twice: from the forward's input x, and from its output y. Both must agree.
//
//   forward    y = x                      for x > 0, else alpha * (exp(x) - 1)
//   gradient   gradInput = gradOutput     for x > 0, else gradOutput * alpha * exp(x)
//
// Run it with: softnpu run elu_backward.cpp
#include <cmath>

#include "aclnnop/aclnn_elu_backward.h"
#include "example.h"

namespace {

const float kAlpha = 1.5f;
const std::vector<int64_t> kShape = {2, 3};

std::vector<float> elu(const std::vector<float>& x) {
  std::vector<float> y;
  for (float value : x) y.push_back(value > 0 ? value : kAlpha * std::expm1(value));
  return y;
}

// gradOutput * elu', where `self_or_result` is y when `is_result` is true, else x.
std::vector<float> elu_backward(const example::Session& session,
                                const std::vector<float>& grad_output,
                                const std::vector<float>& self_or_result, bool is_result) {
  const example::Scalar alpha = example::scalar(kAlpha);
  const example::Scalar one = example::scalar(1.0f);
  const example::Tensor<float> grad(kShape, grad_output);
  const example::Tensor<float> self(kShape, self_or_result);
  const example::Tensor<float> out(kShape, std::vector<float>(grad_output.size()));

  // Phase one checks everything and plans; phase two launches the plan on the stream.
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnEluBackwardGetWorkspaceSize(grad.get(), alpha.get(), one.get(), one.get(), is_result,
                                         self.get(), out.get(), &workspace_size, &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnEluBackward(workspace.data(), workspace.size(), executor, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));
  return out.to_host();
}

}  // namespace

int main() {
  const example::Session session;
  const std::vector<float> x = {-3.0f, -1.0f, -0.25f, 0.0f, 0.5f, 2.0f};
  const std::vector<float> grad_output = {1.0f, 2.0f, 4.0f, -2.0f, 3.0f, -0.5f};

  const std::vector<float> from_x = elu_backward(session, grad_output, x, false);
  const std::vector<float> from_y = elu_backward(session, grad_output, elu(x), true);

  std::printf("%8s %10s %12s %12s\n", "x", "gradOutput", "from x", "from y");
  for (size_t i = 0; i < x.size(); i++) {
    std::printf("%8.2f %10.2f %12.5f %12.5f\n", x[i], grad_output[i], from_x[i], from_y[i]);
  }
  return 0;
}
