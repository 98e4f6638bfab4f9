// SPDX-License-Identifier: Apache-2.0
// Eight threads use the device at once, through the public C API only. Every section checks its
// results; a thread sanitizer checks the rest. Exits with 1 on any mistake.
#include <pthread.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_elu_backward.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "parallel.h"

namespace {

int rounds = 100;
constexpr size_t kCount = 3000;
constexpr size_t kBytes = kCount * sizeof(float);

std::vector<float> numbers(int seed) {
  std::vector<float> values(kCount);
  for (size_t i = 0; i < kCount; ++i)
    values[i] = static_cast<float>((static_cast<int>(i) * 37 + seed) % 200 - 100) / 16;
  return values;
}

// Work of one stream runs in order: up, across, down.
void copies_on_own_streams(int thread) {
  const StreamOwner own;
  const Buffer a(kBytes), b(kBytes);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<float> sent = numbers(thread * 1000 + round);
    std::vector<float> received(kCount);
    EXPECT_OK(aclrtMemcpyAsync(a.address, kBytes, sent.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                               own.stream));
    EXPECT_OK(aclrtMemcpyAsync(b.address, kBytes, a.address, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                               own.stream));
    EXPECT_OK(aclrtMemsetAsync(a.address, kBytes, 0, kBytes, own.stream));
    EXPECT_OK(aclrtMemcpyAsync(received.data(), kBytes, b.address, kBytes,
                               ACL_MEMCPY_DEVICE_TO_HOST, own.stream));
    EXPECT_OK(aclrtSynchronizeStream(own.stream));
    EXPECT(received == sent);
  }
}

// A stream runs one piece of work at a time, whoever launches it: the count needs no lock.
struct SharedCount {
  aclrtStream stream;
  int64_t count = 0;
};

void count_on_shared_stream(SharedCount& shared) {
  for (int round = 0; round < 10 * rounds; ++round)
    EXPECT_OK(aclrtLaunchHostFunc(
        shared.stream, [](void* count) { ++*static_cast<int64_t*>(count); }, &shared.count));
  EXPECT_OK(aclrtSynchronizeStream(shared.stream));
}

// What one stream did before an event is seen by another that waits for the event.
struct Link {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  int64_t value = 0;
};

void events_between_streams(int thread) {
  std::vector<Link> chain(4);
  for (Link& link : chain) {
    EXPECT_OK(aclrtCreateStream(&link.stream));
    EXPECT_OK(aclrtCreateEventWithFlag(&link.event, ACL_EVENT_SYNC));
  }
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < chain.size(); ++i) {
      if (i > 0) EXPECT_OK(aclrtStreamWaitEvent(chain[i].stream, chain[i - 1].event));
      chain[i].value = thread;
      EXPECT_OK(aclrtLaunchHostFunc(
          chain[i].stream, [](void* value) { *static_cast<int64_t*>(value) += 1; },
          &chain[i].value));
      EXPECT_OK(aclrtRecordEvent(chain[i].event, chain[i].stream));
    }
    EXPECT_OK(aclrtSynchronizeEvent(chain.back().event));
    for (const Link& link : chain) EXPECT(link.value == thread + 1);
    float ms = -1;
    EXPECT_OK(aclrtEventElapsedTime(&ms, chain.front().event, chain.back().event));
    EXPECT(ms >= 0);
  }
  for (const Link& link : chain) {
    EXPECT_OK(aclrtDestroyEvent(link.event));
    EXPECT_OK(aclrtDestroyStream(link.stream));
  }
}

// All threads record and await one event in each other's streams: nobody may hang.
void one_event_for_all(aclrtEvent event, const std::vector<aclrtStream>& streams, int thread) {
  for (int round = 0; round < rounds; ++round) {
    const size_t next = static_cast<size_t>(thread + round) % streams.size();
    EXPECT_OK(aclrtRecordEvent(event, streams[next]));
    EXPECT_OK(aclrtStreamWaitEvent(streams[static_cast<size_t>(thread)], event));
    EXPECT_OK(aclrtSynchronizeEventWithTimeout(event, 60000));
  }
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(streams[static_cast<size_t>(thread)], 60000));
}

// A blocking callback runs on the subscribed thread before the stream's later work.
struct Report {
  std::atomic<bool> stop{false};
  int64_t callbacks = 0;
  int64_t seen_by_later_work = -1;
};

void blocking_callbacks(int) {
  const StreamOwner own;
  Report report;
  std::thread processor([&report] {
    while (!report.stop.load()) (void)aclrtProcessReport(5);
  });
  const auto id = static_cast<uint64_t>(processor.native_handle());
  EXPECT_OK(aclrtSubscribeReport(id, own.stream));
  for (int64_t round = 1; round <= rounds; ++round) {
    EXPECT_OK(aclrtLaunchCallback([](void* r) { ++static_cast<Report*>(r)->callbacks; }, &report,
                                  ACL_CALLBACK_BLOCK, own.stream));
    EXPECT_OK(aclrtLaunchHostFunc(
        own.stream,
        [](void* r) {
          auto* seen = static_cast<Report*>(r);
          seen->seen_by_later_work = seen->callbacks;
        },
        &report));
    EXPECT_OK(aclrtSynchronizeStream(own.stream));
    EXPECT(report.seen_by_later_work == round);
  }
  EXPECT_OK(aclrtUnSubscribeReport(id, own.stream));
  report.stop.store(true);
  processor.join();
}

aclTensor* tensor(const std::vector<int64_t>& shape, aclDataType type, void* address) {
  return aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), address);
}

// Both phases of elu's gradient, and the descriptors freed before the stream is waited for.
void elu_backward(aclrtStream stream, const Buffer& grad, const Buffer& x, const Buffer& out) {
  const std::vector<int64_t> shape = {static_cast<int64_t>(kCount)};
  float one = 1.0f, two = 2.0f;
  aclTensor* tensors[] = {tensor(shape, ACL_FLOAT, grad.address),
                          tensor(shape, ACL_FLOAT, x.address),
                          tensor(shape, ACL_FLOAT, out.address)};
  aclScalar* scalars[] = {aclCreateScalar(&one, ACL_FLOAT), aclCreateScalar(&two, ACL_FLOAT),
                          aclCreateScalar(&one, ACL_FLOAT)};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_OK(aclnnEluBackwardGetWorkspaceSize(tensors[0], scalars[0], scalars[1], scalars[2], false,
                                             tensors[1], tensors[2], &size, &executor));
  void* workspace = nullptr;
  if (size > 0) EXPECT_OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclnnEluBackward(workspace, size, executor, stream));
  for (aclTensor* t : tensors) EXPECT_OK(aclDestroyTensor(t));
  for (aclScalar* s : scalars) EXPECT_OK(aclDestroyScalar(s));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  if (size > 0) EXPECT_OK(aclrtFree(workspace));
}

void operators(aclrtStream shared, int thread) {
  const StreamOwner own;
  const Buffer grad(kBytes), x(kBytes), out(kBytes);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<float> g = numbers(thread), v = numbers(round * 7 + thread);
    std::vector<float> result(kCount);
    EXPECT_OK(aclrtMemcpy(grad.address, kBytes, g.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_OK(aclrtMemcpy(x.address, kBytes, v.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    elu_backward(round % 2 == 0 ? own.stream : shared, grad, x, out);
    EXPECT_OK(aclrtMemcpy(result.data(), kBytes, out.address, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    bool right = true;
    for (size_t i = 0; i < kCount; ++i) {
      const double expected = g[i] * 2.0 * (v[i] > 0 ? 1.0 : std::exp(static_cast<double>(v[i])));
      right = right && std::fabs(result[i] - expected) <= 1e-5 * std::fabs(expected);
    }
    expect(right, "every thread's elu gradients are its own");
  }
}

// An index out of range shows in the stream that ran it, once, and in no other.
void failure_stays_in_its_stream(int thread) {
  const StreamOwner own;
  const bool fails = thread % 2 == 0;
  const Buffer grad(64), self(64), indices(64), out(64);
  const int64_t positions[8] = {0, 1, 2, fails ? 99 : 3, 4, 5, 6, 7};
  EXPECT_OK(aclrtMemcpy(indices.address, 64, positions, 64, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_OK(aclrtMemset(grad.address, 64, 0, 64));
  const std::vector<int64_t> shape = {1, 2, 2, 2};
  const int64_t sizes[] = {2, 2, 2}, ones[] = {1, 1, 1}, zeros[] = {0, 0, 0};
  aclTensor* tensors[] = {
      tensor(shape, ACL_FLOAT, grad.address), tensor(shape, ACL_FLOAT, self.address),
      tensor(shape, ACL_INT64, indices.address), tensor(shape, ACL_FLOAT, out.address)};
  aclIntArray* arrays[] = {aclCreateIntArray(sizes, 3), aclCreateIntArray(ones, 3),
                           aclCreateIntArray(zeros, 3)};
  for (int round = 0; round < rounds; ++round) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_OK(aclnnMaxUnpool3dBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2],
                                                       arrays[0], arrays[1], arrays[2], tensors[3],
                                                       &size, &executor));
    EXPECT_OK(aclnnMaxUnpool3dBackward(nullptr, 0, executor, own.stream));
    EXPECT(aclrtSynchronizeStream(own.stream) == (fails ? 361001 : 0));
    const char* message = aclGetRecentErrMsg();
    EXPECT((message != nullptr && std::strstr(message, "99") != nullptr) == fails);
    EXPECT_OK(aclrtSynchronizeStream(own.stream));
  }
  for (aclTensor* t : tensors) EXPECT_OK(aclDestroyTensor(t));
  for (aclIntArray* a : arrays) EXPECT_OK(aclDestroyIntArray(a));
}

// Of many threads that destroy the same thing exactly one succeeds.
void exactly_one(const char* what, const std::function<aclError()>& destroy) {
  std::atomic<int> successes{0};
  in_parallel([&](int) { successes.fetch_add(destroy() == ACL_SUCCESS ? 1 : 0); });
  expect(successes.load() == 1, what);
}

void destroyed_once() {
  void *memory = nullptr, *stream = nullptr, *event = nullptr, *context = nullptr;
  EXPECT_OK(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateEvent(&event));
  exactly_one("one thread frees memory", [&] { return aclrtFree(memory); });
  exactly_one("one thread destroys a stream", [&] { return aclrtDestroyStream(stream); });
  exactly_one("one thread destroys an event", [&] { return aclrtDestroyEvent(event); });
  EXPECT_OK(aclrtCreateContext(&context, 0));
  exactly_one("one thread destroys a context", [&] { return aclrtDestroyContext(context); });
  EXPECT_OK(aclrtSetDevice(0));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) rounds = std::atoi(argv[1]);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  in_parallel(copies_on_own_streams);
  in_parallel(events_between_streams);
  in_parallel(blocking_callbacks);
  in_parallel(failure_stays_in_its_stream);
  {
    const StreamOwner owner;
    SharedCount shared{owner.stream};
    in_parallel([&](int) { count_on_shared_stream(shared); });
    EXPECT(shared.count == kThreads * 10 * rounds);
    in_parallel([&](int thread) { operators(owner.stream, thread); });
  }
  {
    std::vector<StreamOwner> owners(kThreads);
    std::vector<aclrtStream> streams;
    for (const StreamOwner& owner : owners) streams.push_back(owner.stream);
    aclrtEvent event = nullptr;
    EXPECT_OK(aclrtCreateEvent(&event));
    in_parallel([&](int thread) { one_event_for_all(event, streams, thread); });
    EXPECT_OK(aclrtDestroyEvent(event));
  }
  destroyed_once();
  EXPECT_OK(aclFinalize());
  std::printf("%d passed, %d failed\n", passed.load(), failed.load());
  return failed.load() == 0 ? 0 : 1;
}
