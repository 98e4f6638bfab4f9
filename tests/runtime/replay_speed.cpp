// SPDX-License-Identifier: Apache-2.0
// What a replay of captured launches costs, compared with launching them. Prints nanoseconds of
// processor time for one launch in each form: both phases, replayed, and replayed after memory was
// allocated that has nothing to do with it.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "aclnnop/aclnn_elu.h"
#include "parallel.h"

namespace {

constexpr int kLaunches = 100;
constexpr int64_t kElements = 16;

struct Operator {
  Operator() {
    const int64_t size = kElements, stride = 1;
    for (aclTensor** tensor : {&in, &out})
      *tensor = aclCreateTensor(&size, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &size, 1,
                                new_block(4 * kElements, 0));
  }
  aclOpExecutor* plan() const {
    uint64_t workspace = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_OK(aclnnEluGetWorkspaceSize(in, one, one, one, out, &workspace, &executor));
    return executor;
  }

  float value = 1;
  aclScalar* one = aclCreateScalar(&value, ACL_FLOAT);
  aclTensor* in = nullptr;
  aclTensor* out = nullptr;
};

double now() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return 1e9 * double(used.tv_sec) + double(used.tv_nsec);
}

// The cheapest of some repetitions, for one of its launches.
template <class Body>
double nanoseconds(aclrtStream stream, Body&& body) {
  double best = 1e18;
  for (int i = 0; i < 300; ++i) {
    const double start = now();
    body();
    EXPECT_OK(aclrtSynchronizeStream(stream));
    best = std::min(best, now() - start);
  }
  return best / kLaunches;
}

}  // namespace

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  const Operator elu;
  const auto both_phases = [&] {
    for (int i = 0; i < kLaunches; ++i) EXPECT_OK(aclnnElu(nullptr, 0, elu.plan(), stream));
  };
  aclmdlRI graph = nullptr;
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  both_phases();
  EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  const auto replay = [&] { EXPECT_OK(aclmdlRIExecuteAsync(graph, stream)); };

  std::printf("%.0f ", nanoseconds(stream, both_phases));
  std::printf("%.0f ", nanoseconds(stream, replay));
  new_block(64, 0);
  std::printf("%.0f\n", nanoseconds(stream, replay));
  EXPECT_OK(aclmdlRIDestroy(graph));
  return failed.load() == 0 ? 0 : 1;
}
