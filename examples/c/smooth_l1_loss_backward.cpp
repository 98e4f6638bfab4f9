// SPDX-License-Identifier: Apache-2.0
//
// The gradient of the smooth L1 loss with respect to the prediction, for each of its reductions.
// One row of targets serves both rows of predictions: operands broadcast.
//
//   d = prediction - target, gradInput = gradOut * (d / beta       for |d| < beta,
//                                                   sign(d)        for |d| >= beta),
//   divided by the number of predictions for the reduction "mean".
//
// Run it with: softnpu run smooth_l1_loss_backward.cpp
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "example.h"

namespace {

const float kBeta = 2.0f;
const std::vector<int64_t> kShape = {2, 4};

std::vector<float> smooth_l1_loss_backward(const example::Session& session,
                                           const std::vector<float>& prediction,
                                           const std::vector<float>& target, int64_t reduction) {
  // The gradient that flows into the loss is one number, whatever the loss was reduced from.
  const example::Tensor<float> grad_out({1}, {1.0f});
  const example::Tensor<float> self(kShape, prediction);
  const example::Tensor<float> row({kShape[1]}, target);
  const example::Tensor<float> grad_input(kShape, std::vector<float>(prediction.size()));

  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnSmoothL1LossBackwardGetWorkspaceSize(grad_out.get(), self.get(), row.get(), reduction,
                                                  kBeta, grad_input.get(), &workspace_size,
                                                  &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnSmoothL1LossBackward(workspace.data(), workspace.size(), executor, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));
  return grad_input.to_host();
}

}  // namespace

int main() {
  const example::Session session;
  const std::vector<float> prediction = {1.0f, 2.5f, -1.0f, 9.0f, 0.5f, 2.0f, 3.0f, 3.5f};
  const std::vector<float> target = {0.0f, 2.0f, 1.0f, 4.0f};

  const char* const names[] = {"none", "mean", "sum"};
  for (int64_t reduction = 0; reduction < 3; reduction++) {
    const std::vector<float> grad = smooth_l1_loss_backward(session, prediction, target, reduction);
    std::printf("%-4s", names[reduction]);
    for (float value : grad) std::printf(" %8.5f", value);
    std::printf("\n");
  }
  return 0;
}
