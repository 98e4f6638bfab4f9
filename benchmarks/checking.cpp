// SPDX-License-Identifier: Apache-2.0
// Times whole calls of the C API, descriptors included: "operator elements microseconds" a line.
// benchmarks/checking.py runs it with and without checkers.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_elu.h"
#include "aclnnop/aclnn_selu_backward.h"
#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"

namespace {

void must(int status) {
  if (status == 0) return;
  const char* const message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s\n", message != nullptr ? message : "failed");
  std::exit(1);
}

aclTensor* view(const std::vector<int64_t>& sizes, void* memory) {
  return aclCreateTensor(sizes.data(), sizes.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCDHW,
                         sizes.data(), sizes.size(), memory);
}

void* memory(int64_t elements) {
  void* out = nullptr;
  const size_t bytes = static_cast<size_t>(elements) * sizeof(float);
  must(aclrtMalloc(&out, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(out, bytes, 0, bytes));
  return out;
}

using Plan = std::function<aclnnStatus(uint64_t*, aclOpExecutor**)>;
using Launch = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

void run(const Plan& plan, Launch launch) {
  static void* workspace = nullptr;
  static uint64_t room = 0;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  must(plan(&size, &executor));
  if (size > room) {
    if (workspace != nullptr) must(aclrtFree(workspace));
    workspace = memory(static_cast<int64_t>(size));
    room = size;
  }
  must(launch(workspace, room, executor, nullptr));
  must(aclrtSynchronizeStream(nullptr));
}

// The median of some runs, each long enough to be timed.
double microseconds(const std::function<void()>& call, int64_t elements) {
  const int64_t calls = std::clamp<int64_t>((int64_t{1} << 22) / elements, 1, 2000);
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t j = 0; j < calls; ++j) call();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count() / static_cast<double>(calls));
  }
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

void elu(int64_t n, void* from, void* to) {
  float value = 1;
  aclScalar* one = aclCreateScalar(&value, ACL_FLOAT);
  aclTensor *self = view({1, 1, 1, 1, n}, from), *out = view({1, 1, 1, 1, n}, to);
  run(
      [=](auto* size, auto** executor) {
        return aclnnEluGetWorkspaceSize(self, one, one, one, out, size, executor);
      },
      aclnnElu);
  must(aclDestroyTensor(self));
  must(aclDestroyTensor(out));
  must(aclDestroyScalar(one));
}

void selu_backward(int64_t n, void* from, void* to) {
  aclTensor *grad = view({1, 1, 1, 1, n}, from), *result = view({1, 1, 1, 1, n}, from);
  aclTensor* out = view({1, 1, 1, 1, n}, to);
  run(
      [=](auto* size, auto** executor) {
        return aclnnSeluBackwardGetWorkspaceSize(grad, result, out, size, executor);
      },
      aclnnSeluBackward);
  for (aclTensor* each : {grad, result, out}) must(aclDestroyTensor(each));
}

void upsample_backward(int64_t n, void* from, void* to) {
  const int64_t width = std::min<int64_t>(n / 8, 64), channels = n / 8 / width;
  const int64_t large[] = {2, 2, 2 * width}, small[] = {1, channels, 1, 1, width};
  aclTensor* grad = view({1, channels, 2, 2, 2 * width}, from);
  aclTensor* out = view({1, channels, 1, 1, width}, to);
  aclIntArray *sizes = aclCreateIntArray(large, 3), *inputs = aclCreateIntArray(small, 5);
  run(
      [=](auto* size, auto** executor) {
        return aclnnUpsampleNearest3dBackwardGetWorkspaceSize(grad, sizes, inputs, 0, 0, 0, out,
                                                              size, executor);
      },
      aclnnUpsampleNearest3dBackward);
  for (aclTensor* each : {grad, out}) must(aclDestroyTensor(each));
  for (aclIntArray* each : {sizes, inputs}) must(aclDestroyIntArray(each));
}

}  // namespace

int main() {
  must(aclInit(nullptr));
  must(aclrtSetDevice(0));
  const std::pair<const char*, void (*)(int64_t, void*, void*)> operators[] = {
      {"elu", elu},
      {"selu_backward", selu_backward},
      {"upsample_nearest3d_backward", upsample_backward}};
  for (const int64_t n :
       {int64_t{16}, int64_t{1} << 10, int64_t{1} << 16, int64_t{1} << 20, int64_t{1} << 24}) {
    void *from = memory(n), *to = memory(n);
    for (const auto& [name, call] : operators)
      std::printf("%s %ld %.3f\n", name, static_cast<long>(n),
                  microseconds([=] { call(n, from, to); }, n));
    must(aclrtFree(from));
    must(aclrtFree(to));
  }
}
