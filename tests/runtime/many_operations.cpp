// SPDX-License-Identifier: Apache-2.0
// Eight threads, each with many operations on streams, events, memory, descriptors and operators,
// in an order of their own; half of them on things that all threads share. The argument is the
// number of operations of each thread.
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "acl/acl.h"
#include "aclnnop/aclnn_elu.h"
#include "aclnnop/aclnn_selu_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "parallel.h"

namespace {

constexpr int64_t kCount = 32;
constexpr size_t kBytes = kCount * sizeof(float);

struct Shared {
  StreamOwner streams[2];
  aclrtEvent event = nullptr;
  std::atomic<int64_t> runs{0};
  Shared() { EXPECT_OK(aclrtCreateEvent(&event)); }
  ~Shared() { EXPECT_OK(aclrtDestroyEvent(event)); }
};

// What one thread works with.
struct Worker {
  Shared& shared;
  std::mt19937 random;
  StreamOwner own;
  aclrtEvent event = nullptr;
  std::array<Buffer, 3> buffers{Buffer(kBytes), Buffer(kBytes), Buffer(kBytes)};
  int64_t launched = 0;

  Worker(Shared& all, int thread) : shared(all), random(static_cast<unsigned>(thread)) {
    EXPECT_OK(aclrtCreateEvent(&event));
    for (const Buffer& each : buffers) EXPECT_OK(aclrtMemset(each.address, kBytes, 0, kBytes));
  }
  ~Worker() {
    EXPECT_OK(aclrtSynchronizeStream(own.stream));
    EXPECT_OK(aclrtDestroyEvent(event));
  }
  aclrtStream stream() {
    const auto choice = random() % 4;
    return choice < 2 ? own.stream : shared.streams[choice - 2].stream;
  }
};

void make_stream(Worker&) {
  const StreamOwner stream;
  aclrtStreamStatus status;
  EXPECT_OK(aclrtStreamQuery(stream.stream, &status));
}

void make_event(Worker& w) {
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtRecordEvent(event, w.stream()));
  EXPECT_OK(aclrtStreamWaitEvent(w.own.stream, event));
  EXPECT_OK(aclrtDestroyEvent(event));
}

void use_shared_event(Worker& w) {
  EXPECT_OK(aclrtRecordEvent(w.shared.event, w.stream()));
  EXPECT_OK(aclrtStreamWaitEvent(w.stream(), w.shared.event));
  aclrtEventRecordedStatus status;
  EXPECT_OK(aclrtQueryEventStatus(w.shared.event, &status));
}

void use_own_event(Worker& w) {
  EXPECT_OK(aclrtRecordEvent(w.event, w.own.stream));
  EXPECT_OK(aclrtSynchronizeEvent(w.event));
  uint64_t us = 0;
  EXPECT_OK(aclrtEventGetTimestamp(w.event, &us));
  EXPECT(us > 0);
}

void use_memory(Worker& w) {
  const Buffer buffer(1 + w.random() % 5000);
  EXPECT_OK(aclrtMemsetAsync(buffer.address, 1, 7, 1, w.own.stream));
  char byte = 0;
  EXPECT_OK(aclrtMemcpyAsync(&byte, 1, buffer.address, 1, ACL_MEMCPY_DEVICE_TO_HOST, w.own.stream));
  EXPECT_OK(aclrtSynchronizeStream(w.own.stream));
  EXPECT(byte == 7);
}

void run_host_function(Worker& w) {
  ++w.launched;
  EXPECT_OK(aclrtLaunchHostFunc(
      w.stream(), [](void* runs) { static_cast<std::atomic<int64_t>*>(runs)->fetch_add(1); },
      &w.shared.runs));
}

aclTensor* tensor(const Buffer& buffer, int64_t count = kCount) {
  return aclCreateTensor(&count, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &count, 1,
                         buffer.address);
}

void use_descriptors(Worker& w) {
  aclTensor* one = tensor(w.buffers[0]);
  int64_t* shape = nullptr;
  uint64_t rank = 0;
  EXPECT_OK(aclGetViewShape(one, &shape, &rank));
  EXPECT(rank == 1 && shape[0] == kCount);
  delete[] shape;
  const aclTensor* members[] = {one, nullptr};
  EXPECT_OK(aclDestroyTensorList(aclCreateTensorList(members, 2)));
  EXPECT(aclDestroyTensor(one) != 0);
}

template <class Plan, class Launch>
void run_operator(Worker& w, const Plan& plan, Launch launch) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_OK(plan(&size, &executor));
  const Buffer workspace(size + 1);
  EXPECT_OK(launch(workspace.address, size, executor, w.own.stream));
  EXPECT_OK(aclrtSynchronizeStream(w.own.stream));
}

// elu(0) is 0, whatever other threads compute.
void elu(Worker& w) {
  float one = 1, first = -1;
  aclTensor *self = tensor(w.buffers[0]), *out = tensor(w.buffers[1]);
  aclScalar* scalar = aclCreateScalar(&one, ACL_FLOAT);
  run_operator(
      w,
      [&](auto... end) {
        return aclnnEluGetWorkspaceSize(self, scalar, scalar, scalar, out, end...);
      },
      aclnnElu);
  EXPECT_OK(aclrtMemcpy(&first, 4, w.buffers[1].address, 4, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(first == 0);
  for (aclTensor* each : {self, out}) EXPECT_OK(aclDestroyTensor(each));
  EXPECT_OK(aclDestroyScalar(scalar));
}

void losses(Worker& w) {
  aclTensor *self = tensor(w.buffers[0]), *out = tensor(w.buffers[1]),
            *mean = tensor(w.buffers[2], 1);
  run_operator(
      w, [&](auto... end) { return aclnnSeluBackwardGetWorkspaceSize(self, self, out, end...); },
      aclnnSeluBackward);
  run_operator(
      w,
      [&](auto... end) {
        return aclnnSmoothL1LossGetWorkspaceSize(self, out, 1, 1.0f, mean, end...);
      },
      aclnnSmoothL1Loss);
  for (aclTensor* each : {self, out, mean}) EXPECT_OK(aclDestroyTensor(each));
}

// A launch that waits for its turn keeps the addresses that its executor had, here of two results.
void next_addresses(Worker& w) {
  aclTensor *self = tensor(w.buffers[0]), *out = tensor(w.buffers[1]);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_OK(aclnnSeluBackwardGetWorkspaceSize(self, self, out, &size, &executor));
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  const Buffer workspace(size + 1);
  for (const size_t i : {1, 2}) EXPECT_OK(aclrtMemset(w.buffers[i].address, kBytes, 1, kBytes));
  EXPECT_OK(aclrtLaunchHostFunc(w.own.stream, [](void*) {}, nullptr));
  for (const size_t next : {2, 1, 2, 1}) {
    EXPECT_OK(aclnnSeluBackward(workspace.address, size, executor, w.own.stream));
    EXPECT_OK(aclSetOutputTensorAddr(executor, 0, out, w.buffers[next].address));
  }
  EXPECT_OK(aclDestroyAclOpExecutor(executor));
  EXPECT_OK(aclrtSynchronizeStream(w.own.stream));
  for (const size_t i : {1, 2}) {
    float first = -1;
    EXPECT_OK(aclrtMemcpy(&first, 4, w.buffers[i].address, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(first == 0);
  }
  for (aclTensor* each : {self, out}) EXPECT_OK(aclDestroyTensor(each));
}

constexpr void (*kOperations[])(Worker&) = {
    make_stream,     make_event, use_shared_event, use_own_event,  use_memory, run_host_function,
    use_descriptors, elu,        losses,           next_addresses,
};

}  // namespace

int main(int argc, char** argv) {
  const long operations = argc > 1 ? std::atol(argv[1]) : 2000;
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  std::atomic<int64_t> launched{0};
  {
    Shared shared;
    in_parallel([&](int thread) {
      Worker worker(shared, thread);
      for (long i = 0; i < operations; ++i)
        kOperations[worker.random() % std::size(kOperations)](worker);
      launched.fetch_add(worker.launched);
    });
    for (const StreamOwner& each : shared.streams) EXPECT_OK(aclrtSynchronizeStream(each.stream));
    EXPECT_OK(aclrtSynchronizeDevice());
    EXPECT(shared.runs.load() == launched.load());
  }
  EXPECT_OK(aclFinalize());
  std::printf("%d threads with %ld operations: %d passed, %d failed\n", kThreads, operations,
              passed.load(), failed.load());
  return failed.load() == 0 ? 0 : 1;
}
