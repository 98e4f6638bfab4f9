// SPDX-License-Identifier: Apache-2.0
// Overwrites indices with numbers that are nowhere and back again while max_unpool3d and its
// gradient read them. Values and status may be anything; the process must survive.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_max_unpool3d.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "parallel.h"

namespace {

std::atomic<bool> done{false};

void overwrite(int64_t* indices, const std::vector<int64_t>& valid) {
  const size_t bytes = valid.size() * sizeof(int64_t);
  EXPECT_OK(aclrtSetDevice(0));
  const StreamOwner own;
  while (!done.load()) {
    EXPECT_OK(aclrtMemsetAsync(indices, bytes, 0x3f, bytes, own.stream));
    EXPECT_OK(aclrtMemcpyAsync(indices, bytes, valid.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE,
                               own.stream));
    EXPECT_OK(aclrtSynchronizeStream(own.stream));
  }
}

aclTensor* tensor(void* data, aclDataType type, int64_t count, int64_t step) {
  const int64_t sizes[] = {1, 1, 1, 1, count}, strides[] = {count, count, count, count, step};
  const int64_t storage = count * step;
  return aclCreateTensor(sizes, 5, type, strides, 0, ACL_FORMAT_NCDHW, &storage, 1, data);
}

// Every path: elements of each size, in a cache and from memory, with a gradOutput, the forward's
// output, that is not dense.
struct Gather {
  aclDataType type;
  int64_t item, positions, step;
};
constexpr Gather kGathers[] = {{ACL_INT8, 1, 5000, 1},       {ACL_DOUBLE, 8, 5000, 1},
                               {ACL_FLOAT, 4, 5000, 2},      {ACL_FLOAT, 4, 700'000, 1},
                               {ACL_INT16, 2, 3'000'000, 1}, {ACL_INT16, 2, 40, 1}};

void run(const Gather& g) {
  done = false;
  const StreamOwner own;
  const auto bytes = static_cast<size_t>(g.positions * g.item);
  const Buffer grad(bytes * static_cast<size_t>(g.step)), out(bytes);
  const Buffer indices(static_cast<size_t>(g.positions) * sizeof(int64_t));
  std::vector<int64_t> valid(static_cast<size_t>(g.positions));
  for (int64_t i = 0; i < g.positions; ++i) valid[static_cast<size_t>(i)] = i * 7919 % g.positions;
  std::thread other(overwrite, static_cast<int64_t*>(indices.address), std::cref(valid));
  aclTensor* const grad_tensor = tensor(grad.address, g.type, g.positions, g.step);
  aclTensor* const index_tensor = tensor(indices.address, ACL_INT64, g.positions, 1);
  aclTensor* const out_tensor = tensor(out.address, g.type, g.positions, 1);
  const int64_t size[] = {1, 1, g.positions}, one[] = {1, 1, 1};
  aclIntArray *const sizes = aclCreateIntArray(size, 3), *const ones = aclCreateIntArray(one, 3);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  while (std::chrono::steady_clock::now() < end) {
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_OK(aclnnMaxUnpool3dBackwardGetWorkspaceSize(grad_tensor, grad_tensor, index_tensor,
                                                       sizes, ones, ones, out_tensor, &workspace,
                                                       &executor));
    EXPECT_OK(aclnnMaxUnpool3dBackward(nullptr, 0, executor, own.stream));
    aclrtSynchronizeStream(own.stream);  // fails where an index was bad
    EXPECT_OK(aclnnMaxUnpool3dGetWorkspaceSize(out_tensor, index_tensor, sizes, ones, ones,
                                               grad_tensor, &workspace, &executor));
    EXPECT_OK(aclnnMaxUnpool3d(nullptr, 0, executor, own.stream));
    aclrtSynchronizeStream(own.stream);
  }
  done = true;
  other.join();
  for (aclTensor* each : {grad_tensor, index_tensor, out_tensor}) aclDestroyTensor(each);
  for (aclIntArray* each : {sizes, ones}) aclDestroyIntArray(each);
}

}  // namespace

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  for (const Gather& gather : kGathers) run(gather);
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return failed.load() == 0 ? 0 : 1;
}
