// SPDX-License-Identifier: Apache-2.0
// What a replay of captured launches costs, compared with launching them. Prints nanoseconds for
// one launch in each form: both phases, phase two alone, replayed, and replayed after memory was
// allocated that has nothing to do with it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"
#include "aclnnop/aclnn_elu.h"

namespace {

constexpr int kLaunches = 100;
constexpr int64_t kElements = 16;

void require(int status, const char* call) {
  if (status == ACL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d: %s\n", call, status, aclGetRecentErrMsg());
  std::_Exit(1);
}
#define REQUIRE_OK(call) require(call, #call)

void* new_block(size_t size) {
  void* block = nullptr;
  REQUIRE_OK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
  REQUIRE_OK(aclrtMemset(block, size, 0, size));
  return block;
}

struct Operator {
  Operator() {
    const int64_t size = kElements, stride = 1;
    for (aclTensor** tensor : {&in, &out})
      *tensor = aclCreateTensor(&size, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &size, 1,
                                new_block(4 * kElements));
  }
  aclOpExecutor* plan() const {
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    REQUIRE_OK(aclnnEluGetWorkspaceSize(in, one, one, one, out, &workspace, &executor));
    return executor;
  }

  float value = 1;
  aclScalar* one = aclCreateScalar(&value, ACL_FLOAT);
  aclTensor* in = nullptr;
  aclTensor* out = nullptr;
};

// The shortest of some repetitions, for one of its launches.
template <class Body>
double nanoseconds(aclrtStream stream, Body&& body) {
  using Clock = std::chrono::steady_clock;
  double best = 1e18;
  for (int i = 0; i < 300; ++i) {
    const auto start = Clock::now();
    body();
    REQUIRE_OK(aclrtSynchronizeStream(stream));
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return best / kLaunches;
}

}  // namespace

int main() {
  REQUIRE_OK(aclInit(nullptr));
  REQUIRE_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  REQUIRE_OK(aclrtCreateStream(&stream));
  const Operator elu;
  const auto both_phases = [&] {
    for (int i = 0; i < kLaunches; ++i) REQUIRE_OK(aclnnElu(nullptr, 0, elu.plan(), stream));
  };
  aclOpExecutor* const repeatable = elu.plan();
  REQUIRE_OK(aclSetAclOpExecutorRepeatable(repeatable));
  aclmdlRI graph = nullptr;
  REQUIRE_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  both_phases();
  REQUIRE_OK(aclmdlRICaptureEnd(stream, &graph));
  const auto replay = [&] { REQUIRE_OK(aclmdlRIExecuteAsync(graph, stream)); };

  std::printf("%.0f ", nanoseconds(stream, both_phases));
  std::printf("%.0f ", nanoseconds(stream, [&] {
                for (int i = 0; i < kLaunches; ++i)
                  REQUIRE_OK(aclnnElu(nullptr, 0, repeatable, stream));
              }));
  std::printf("%.0f ", nanoseconds(stream, replay));
  new_block(64);
  std::printf("%.0f\n", nanoseconds(stream, replay));
  REQUIRE_OK(aclmdlRIDestroy(graph));
  return 0;
}
