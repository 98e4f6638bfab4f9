// SPDX-License-Identifier: Apache-2.0
//
// The gradient of max unpooling: element i receives the gradient from the place that it was put to,
// gradInput[i] = gradOutput[indices[i]]. Then the same with an index that is out of range, to show
// how a failure on the device reaches the program: phase one cannot see data, so the launch is
// accepted, and the next synchronisation of the stream reports it.
//
// Run it with: softnpu run max_unpool3d_backward.cpp
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "example.h"

namespace {

const std::vector<int64_t> kPooled = {1, 1, 1, 2, 3};    // N, C, D, H, W before unpooling
const std::vector<int64_t> kUnpooled = {1, 1, 2, 2, 3};  // and after

// Returns the status of the synchronisation; on success `result` holds the gradient.
int max_unpool3d_backward(const example::Session& session, const std::vector<float>& grad_output,
                          const std::vector<int64_t>& indices, std::vector<float>* result) {
  const example::Tensor<float> grad(kUnpooled, grad_output);
  const example::Tensor<float> self(kPooled, std::vector<float>(indices.size()));
  const example::Tensor<int64_t> places(kPooled, indices);
  const example::Tensor<float> out(kPooled, std::vector<float>(indices.size()));
  const example::IntArray output_size = example::int_array({2, 2, 3});
  const example::IntArray stride = example::int_array({2, 1, 1});
  const example::IntArray padding = example::int_array({0, 0, 0});

  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK(aclnnMaxUnpool3dBackwardGetWorkspaceSize(grad.get(), self.get(), places.get(),
                                                 output_size.get(), stride.get(), padding.get(),
                                                 out.get(), &workspace_size, &executor));
  const example::Workspace workspace(workspace_size);
  CHECK(aclnnMaxUnpool3dBackward(workspace.data(), workspace.size(), executor, session.stream()));
  const int status = aclrtSynchronizeStream(session.stream());
  if (status == ACL_SUCCESS) *result = out.to_host();
  return status;
}

}  // namespace

int main() {
  const example::Session session;
  const std::vector<float> grad_output = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110};
  std::vector<int64_t> indices = {6, 1, 8, 3, 10, 11};
  std::vector<float> result;

  CHECK(max_unpool3d_backward(session, grad_output, indices, &result));
  for (size_t i = 0; i < result.size(); i++) {
    std::printf("index %2lld gives %g\n", static_cast<long long>(indices[i]), result[i]);
  }

  indices[4] = 12;  // gradOutput has 12 places, 0 to 11
  const int status = max_unpool3d_backward(session, grad_output, indices, &result);
  std::printf("index 12 gives status %d at synchronisation\n", status);
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s\n", message != nullptr ? message : "(no message)");
  return 0;
}
