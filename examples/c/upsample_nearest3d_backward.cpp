// SPDX-License-Identifier: Apache-2.0
//
// The gradient of nearest upsampling from 2 x 2 to 4 x 5 (with a depth of 1). Each input element
// receives the sum of the gradients of the output elements that were copied from it: two rows, and
// three columns on the left but two on the right, because ceil(1 * 5 / 2) = 3.
//
//          columns 0-2   3-4
//   rows 0-1       27     28
//   rows 2-3       87     68      for gradOut = 1, 2, ... 20
//
// Run it with: softnpu run upsample_nearest3d_backward.cpp
#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"
#include "example.h"

int main() {
  const example::Session session;
  const std::vector<int64_t> grad_out_shape = {1, 1, 1, 4, 5};
  const std::vector<int64_t> grad_input_shape = {1, 1, 1, 2, 2};
  std::vector<float> values;
  for (int i = 1; i <= 20; i++) values.push_back(static_cast<float>(i));

  const example::Tensor<float> grad_out(grad_out_shape, values, ACL_FORMAT_NCDHW);
  const example::Tensor<float> grad_input(grad_input_shape, std::vector<float>(4),
                                          ACL_FORMAT_NCDHW);
  const example::IntArray output_size = example::int_array({1, 4, 5});
  const example::IntArray input_size = example::int_array(grad_input_shape);

  // Scales of 0 mean "not given": they follow from the sizes.
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnUpsampleNearest3dBackwardGetWorkspaceSize(
      grad_out.get(), output_size.get(), input_size.get(), 0.0, 0.0, 0.0, grad_input.get(),
      &workspace_size, &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnUpsampleNearest3dBackward(workspace.data(), workspace.size(), executor,
                                       session.stream()));
  CHECK(aclrtSynchronizeStream(session.stream()));

  const std::vector<float> result = grad_input.to_host();
  for (size_t row = 0; row < 2; row++) {
    std::printf("gradInput[%zu] = %g %g\n", row, result[2 * row], result[2 * row + 1]);
  }
  std::printf("sum of gradInput = %g, of gradOut = 210\n",
              result[0] + result[1] + result[2] + result[3]);
  return 0;
}
