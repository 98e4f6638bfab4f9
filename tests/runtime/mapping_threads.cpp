// SPDX-License-Identifier: Apache-2.0
// Eight threads map and unmap memory: some that they share, of which each is at one place at a
// time, and some of their own, whose contents nobody else may change. Each executes a graph at an
// address where its own memory is mapped anew every time.
#include <cstdint>
#include <cstdlib>

#include "aclnnop/aclnn_selu.h"
#include "parallel.h"

namespace {

constexpr size_t kUnit = size_t{2} << 20;
constexpr int kShared = 3;

aclrtPhysicalMemProp device_memory() {
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  return prop;
}

// What is mapped cannot be mapped again, so each that is can be unmapped, once.
void share(char* range, aclrtDrvMemHandle const* shared, int i) {
  char* const place = range + static_cast<size_t>(i % kShared) * kUnit;
  const int status = aclrtMapMem(place, kUnit, 0, shared[i / kShared % kShared], 0);
  EXPECT(status == 0 || status == ACL_ERROR_RT_PARAM_INVALID);
  if (status != 0) return;
  EXPECT(aclrtFreePhysical(shared[i / kShared % kShared]) == ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_OK(aclrtMemset(place, kUnit, i, 64));
  EXPECT_OK(aclrtUnmapMem(place));
}

void keep(void* own, char mine) {
  const aclrtPhysicalMemProp prop = device_memory();
  aclrtDrvMemHandle handle = nullptr;
  EXPECT_OK(aclrtMallocPhysical(&handle, kUnit, &prop, 0));
  EXPECT_OK(aclrtMapMem(own, kUnit, 0, handle, 0));
  EXPECT_OK(aclrtMemset(own, kUnit, mine, kUnit));
  EXPECT_OK(aclrtUnmapMem(own));
  EXPECT_OK(aclrtMapMem(own, kUnit, 0, handle, 0));
  char last = 0;
  EXPECT_OK(aclrtMemcpy(&last, 1, static_cast<char*>(own) + kUnit - 1, 1, ACL_MEMCPY_DEFAULT));
  EXPECT(last == mine);
  EXPECT_OK(aclrtUnmapMem(own));
  EXPECT_OK(aclrtFreePhysical(handle));
}

// A graph of all kinds of work on memory: each piece reads what the one before wrote.
class Replay {
 public:
  explicit Replay(char* range) : range_(range) {
    const aclrtPhysicalMemProp prop = device_memory();
    EXPECT_OK(aclrtMallocPhysical(&memory_, kUnit, &prop, 0));
    map();
    EXPECT_OK(aclmdlRICaptureBegin(stream_.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    // Takes long enough for other threads to allocate meanwhile.
    EXPECT_OK(aclrtMemsetAsync(range_, kUnit, 0x3f, kUnit, stream_.stream));
    EXPECT_OK(aclrtMemcpyAsync(place(1), kBytes, place(0), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                               stream_.stream));
    copy_batch();
    launch_operator();
    EXPECT_OK(aclmdlRICaptureEnd(stream_.stream, &graph_));
    EXPECT_OK(aclrtUnmapMem(range_));
  }
  ~Replay() {
    EXPECT_OK(aclmdlRIDestroy(graph_));
    EXPECT_OK(aclrtFreePhysical(memory_));
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void run() {
    map();
    EXPECT_OK(aclrtMemset(range_, kUnit, 0, kBytes * kPlaces));
    EXPECT_OK(aclmdlRIExecuteAsync(graph_, stream_.stream));
    EXPECT_OK(aclrtSynchronizeStream(stream_.stream));
    float values[kPlaces * kCount] = {};
    EXPECT_OK(aclrtMemcpy(values, sizeof values, range_, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(values[0] > 0.7f && values[2 * kCount] == values[0]);
    EXPECT(values[3 * kCount] > 1.05f * values[0]);
    EXPECT_OK(aclrtUnmapMem(range_));
  }

 private:
  static constexpr int64_t kCount = 16;
  static constexpr size_t kBytes = kCount * sizeof(float);
  static constexpr int kPlaces = 4;

  char* place(size_t i) const { return range_ + i * kBytes; }
  void map() { EXPECT_OK(aclrtMapMem(range_, kUnit, 0, memory_, 0)); }

  void copy_batch() {
    void *to = place(2), *from = place(1);
    size_t size = kBytes, first = 0, failing = 0;
    aclrtMemcpyBatchAttr attributes = {};
    attributes.dstLoc.type = attributes.srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    EXPECT_OK(aclrtMemcpyBatchAsync(&to, &size, &from, &size, 1, &attributes, &first, 1, &failing,
                                    stream_.stream));
  }

  aclTensor* tensor(size_t i) const {
    return aclCreateTensor(&kCount, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kCount, 1, place(i));
  }

  void launch_operator() {
    aclTensor *self = tensor(2), *out = tensor(3);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_OK(aclnnSeluGetWorkspaceSize(self, out, &size, &executor));
    EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
    EXPECT_OK(aclnnSelu(range_ + kUnit / 2, size, executor, stream_.stream));
    EXPECT_OK(aclDestroyAclOpExecutor(executor));
    for (aclTensor* each : {self, out}) EXPECT_OK(aclDestroyTensor(each));
  }

  char* const range_;
  StreamOwner stream_;
  aclrtDrvMemHandle memory_ = nullptr;
  aclmdlRI graph_ = nullptr;
};

}  // namespace

int main(int count, char** arguments) {
  const int rounds = (count > 1 ? std::atoi(arguments[1]) : 1600) / (4 * kThreads);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  const aclrtPhysicalMemProp prop = device_memory();
  void* range = nullptr;
  aclrtDrvMemHandle shared[kShared];
  EXPECT_OK(aclrtReserveMemAddress(&range, kShared * kUnit, 0, nullptr, 0));
  for (auto& each : shared) EXPECT_OK(aclrtMallocPhysical(&each, kUnit, &prop, 0));
  in_parallel([&](int thread) {
    void* own = nullptr;
    EXPECT_OK(aclrtReserveMemAddress(&own, kUnit, 0, nullptr, 0));
    Replay replay(static_cast<char*>(own));
    for (int i = 0; i < rounds; ++i) {
      share(static_cast<char*>(range), shared, i + thread);
      keep(own, static_cast<char>(thread));
      replay.run();
    }
    EXPECT_OK(aclrtReleaseMemAddress(own));
  });
  for (auto& each : shared) EXPECT_OK(aclrtFreePhysical(each));
  EXPECT_OK(aclrtReleaseMemAddress(range));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  std::printf("%d passed, %d failed\n", passed.load(), failed.load());
  return failed.load() == 0 ? 0 : 1;
}
