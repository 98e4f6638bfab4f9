// SPDX-License-Identifier: Apache-2.0
//
// Nearest upsampling from 2 x 2 to 4 x 5 (with a depth of 1). Each row becomes two. The left column
// becomes three and the right one two, because ceil(1 * 5 / 2) = 3.
//
// Run it with: softnpu run upsample_nearest3d.cpp
#include "aclnnop/aclnn_upsample_nearest_3d.h"
#include "example.h"

int main() {
  const example::Session session;
  const example::Tensor<float> self({1, 1, 1, 2, 2}, {1, 2, 3, 4}, ACL_FORMAT_NCDHW);
  const example::Tensor<float> out({1, 1, 1, 4, 5}, std::vector<float>(20), ACL_FORMAT_NCDHW);
  const example::IntArray output_size = example::int_array({1, 4, 5});

  // Scales of 0 mean "not given": they follow from the sizes.
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnUpsampleNearest3dGetWorkspaceSize(self.get(), output_size.get(), 0.0, 0.0, 0.0,
                                               out.get(), &workspace_size, &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnUpsampleNearest3d(workspace.data(), workspace.size(), executor, session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));

  const std::vector<float> result = out.to_host();
  for (size_t row = 0; row < 4; row++) {
    std::printf("out[%zu] =", row);
    for (size_t column = 0; column < 5; column++) std::printf(" %g", result[5 * row + column]);
    std::printf("\n");
  }
  return 0;
}
