// SPDX-License-Identifier: Apache-2.0
// What the programs are made of: checks that count, threads that begin together, and owners.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "acl/acl.h"

constexpr int kThreads = 8;

inline std::atomic<int> passed{0};
inline std::atomic<int> failed{0};

inline void expect(bool holds, const char* what) {
  (holds ? passed : failed).fetch_add(1);
  if (holds) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "FAILED: %s (%s)\n", what, message == nullptr ? "no message" : message);
}
#define EXPECT(condition) expect((condition), #condition)
#define EXPECT_OK(call) expect((call) == ACL_SUCCESS, #call)

// Each thread starts without a device, and takes it first. All begin at the same moment.
inline void in_parallel(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  std::atomic<int> missing{kThreads};
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&body, &missing, i] {
      missing.fetch_sub(1);
      while (missing.load() > 0) std::this_thread::yield();
      EXPECT(aclrtSynchronizeDevice() == ACL_ERROR_RT_CONTEXT_NULL);
      EXPECT_OK(aclrtSetDevice(0));
      body(i);
      EXPECT_OK(aclrtResetDevice(0));
    });
  for (std::thread& thread : threads) thread.join();
}

// Schedules that hold work back let a piece run when a program asks for the second time.
inline void let_one_piece_run(aclrtStream stream) {
  aclrtStreamStatus status;
  for (int i = 0; i < 2; ++i) EXPECT_OK(aclrtStreamQuery(stream, &status));
}

inline void wait_by_asking(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) EXPECT_OK(aclrtStreamQuery(stream, &status));
}

inline aclrtStream new_stream() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  return stream;
}

inline void* new_block(size_t size, int value) {
  void* block = nullptr;
  EXPECT_OK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(block, size, value, size));
  return block;
}

struct Buffer {
  explicit Buffer(size_t bytes) {
    EXPECT_OK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ~Buffer() { EXPECT_OK(aclrtFree(address)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* address = nullptr;
};

struct StreamOwner {
  StreamOwner() { EXPECT_OK(aclrtCreateStream(&stream)); }
  ~StreamOwner() { EXPECT_OK(aclrtDestroyStream(stream)); }
  StreamOwner(const StreamOwner&) = delete;
  StreamOwner& operator=(const StreamOwner&) = delete;
  aclrtStream stream = nullptr;
};
