// SPDX-License-Identifier: Apache-2.0
//
// The gradient of selu from the forward's output y, in floating point and in integers.
//
//   gradInput = gradOutput * lambda                for y >= 0
//               gradOutput * (y + lambda * alpha)  for y < 0
//
// with lambda = 1.0507010 and lambda * alpha = 1.7580993. Integer results round toward zero.
// Run it with: softnpu run selu_backward.cpp
#include "aclnnop/aclnn_selu_backward.h"
#include "example.h"

namespace {

template <class T>
std::vector<T> selu_backward(const example::Session& session, const std::vector<T>& grad_output,
                             const std::vector<T>& result) {
  const std::vector<int64_t> shape = {static_cast<int64_t>(result.size())};
  const example::Tensor<T> grad(shape, grad_output);
  const example::Tensor<T> y(shape, result);
  const example::Tensor<T> out(shape, std::vector<T>(result.size()));

  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnSeluBackwardGetWorkspaceSize(grad.get(), y.get(), out.get(), &workspace_size,
                                          &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnSeluBackward(workspace.data(), workspace.size(), executor, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));
  return out.to_host();
}

}  // namespace

int main() {
  const example::Session session;

  const std::vector<float> grad = {1.0f, 2.0f, -1.0f, 0.5f, 10.0f};
  const std::vector<float> y = {-1.5f, -0.5f, 0.0f, 2.0f, 7.0f};
  const std::vector<float> floats = selu_backward(session, grad, y);
  std::printf("FLOAT  %8s %10s %10s\n", "y", "gradOutput", "gradInput");
  for (size_t i = 0; i < y.size(); i++) {
    std::printf("       %8.2f %10.2f %10.5f\n", y[i], grad[i], floats[i]);
  }

  const std::vector<int32_t> int_grad = {20, 3, 2, -3};
  const std::vector<int32_t> int_y = {5, 0, -1, -9};
  const std::vector<int32_t> ints = selu_backward(session, int_grad, int_y);
  std::printf("INT32  %8s %10s %10s\n", "y", "gradOutput", "gradInput");
  for (size_t i = 0; i < int_y.size(); i++) {
    std::printf("       %8d %10d %10d\n", int_y[i], int_grad[i], ints[i]);
  }
  return 0;
}
