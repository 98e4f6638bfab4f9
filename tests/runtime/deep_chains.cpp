// SPDX-License-Identifier: Apache-2.0
// Streams that wait for each other, and work that launches work, deeper than a stack is. The
// program's exit status says how it went: 0 is well.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "parallel.h"

namespace {

constexpr int kCount = 60000;

std::atomic<bool> holds{false}, released{false};

void hold(void*) {
  holds = true;
  while (!released.load()) std::this_thread::yield();
}

void wait_at_the_end_of_a_chain(const std::vector<aclrtStream>& streams) {
  std::thread first([&] {
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtLaunchHostFunc(streams[0], hold, nullptr));
  });
  while (!holds) std::this_thread::yield();
  aclrtEvent event = nullptr;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (i > 0) EXPECT_OK(aclrtStreamWaitEvent(streams[i], event));
    EXPECT_OK(aclrtCreateEvent(&event));
    EXPECT_OK(aclrtRecordEvent(event, streams[i]));
  }
  EXPECT(aclrtSynchronizeStreamWithTimeout(streams.back(), 1) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  released = true;
  EXPECT_OK(aclrtSynchronizeStream(streams.back()));
  first.join();
}

struct Nested {
  const std::vector<aclrtStream>& streams;
  size_t next = 0;
};

void launch_next(void* user_data) {
  auto& nested = *static_cast<Nested*>(user_data);
  if (nested.next == nested.streams.size()) return;
  const aclrtStream stream = nested.streams[nested.next++];
  EXPECT_OK(aclrtLaunchHostFunc(stream, launch_next, user_data));
}

void launch_from_what_is_launched(const std::vector<aclrtStream>& streams) {
  Nested nested{streams};
  launch_next(&nested);
  for (aclrtStream stream : streams) EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT(nested.next == streams.size());
}

}  // namespace

int main(int argc, char** argv) {
  EXPECT_OK(aclrtSetDevice(0));
  const int count = argc > 1 ? std::atoi(argv[1]) : kCount;
  std::vector<aclrtStream> streams;
  for (int i = 0; i < count; ++i) streams.push_back(new_stream());
  wait_at_the_end_of_a_chain(streams);
  launch_from_what_is_launched(streams);
  return failed.load() == 0 ? 0 : 1;
}
