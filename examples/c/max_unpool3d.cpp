// SPDX-License-Identifier: Apache-2.0
//
// Max unpooling: element i is put to indices[i] of the flattened output, everything else is 0. Of
// indices that repeat, the last one counts.
//
// Run it with: softnpu run max_unpool3d.cpp
#include "aclnnop/aclnn_max_unpool3d.h"
#include "example.h"

int main() {
  const example::Session session;
  const std::vector<int64_t> pooled = {1, 1, 1, 2, 3};    // N, C, D, H, W before unpooling
  const std::vector<int64_t> unpooled = {1, 1, 2, 2, 3};  // and after

  const example::Tensor<float> self(pooled, {1, 2, 3, 4, 5, 6});
  const example::Tensor<int64_t> indices(pooled, {6, 1, 8, 3, 11, 11});
  const example::Tensor<float> out(unpooled, std::vector<float>(12));
  const example::IntArray output_size = example::int_array({2, 2, 3});
  const example::IntArray stride = example::int_array({2, 1, 1});
  const example::IntArray padding = example::int_array({0, 0, 0});

  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnMaxUnpool3dGetWorkspaceSize(self.get(), indices.get(), output_size.get(), stride.get(),
                                         padding.get(), out.get(), &workspace_size, &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnMaxUnpool3d(workspace.data(), workspace.size(), executor, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));

  const std::vector<float> result = out.to_host();
  for (size_t row = 0; row < 4; row++) {
    std::printf("d = %zu, h = %zu: %g %g %g\n", row / 2, row % 2, result[3 * row],
                result[3 * row + 1], result[3 * row + 2]);
  }
  return 0;
}
