// SPDX-License-Identifier: Apache-2.0
//
// The smooth L1 loss of each prediction, their mean, and their sum. One row of targets serves both
// rows of predictions: operands broadcast.
//
//   d = prediction - target, loss = 0.5 * d * d / beta   for |d| < beta,
//                                   |d| - 0.5 * beta     for |d| >= beta
//
// Run it with: softnpu run smooth_l1_loss.cpp
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "example.h"

namespace {

const float kBeta = 2.0f;
const std::vector<int64_t> kShape = {2, 4};

std::vector<float> smooth_l1_loss(const example::Session& session,
                                  const std::vector<float>& prediction,
                                  const std::vector<float>& target, int64_t reduction) {
  const bool each = reduction == 0;
  const example::Tensor<float> self(kShape, prediction);
  const example::Tensor<float> row({kShape[1]}, target);
  const example::Tensor<float> result(each ? kShape : std::vector<int64_t>{1},
                                      std::vector<float>(each ? prediction.size() : 1));

  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnSmoothL1LossGetWorkspaceSize(self.get(), row.get(), reduction, kBeta, result.get(),
                                          &workspace_size, &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnSmoothL1Loss(workspace.data(), workspace.size(), executor, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));
  return result.to_host();
}

}  // namespace

int main() {
  const example::Session session;
  const std::vector<float> prediction = {1.0f, 2.5f, -1.0f, 9.0f, 0.5f, 2.0f, 3.0f, 3.5f};
  const std::vector<float> target = {0.0f, 2.0f, 1.0f, 4.0f};

  const char* const names[] = {"none", "mean", "sum"};
  for (int64_t reduction = 0; reduction < 3; reduction++) {
    const std::vector<float> loss = smooth_l1_loss(session, prediction, target, reduction);
    std::printf("%-4s", names[reduction]);
    for (float value : loss) std::printf(" %8.5f", value);
    std::printf("\n");
  }
  return 0;
}
