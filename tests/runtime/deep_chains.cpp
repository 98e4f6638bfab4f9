// SPDX-License-Identifier: Apache-2.0
// Streams that wait for each other, and work that launches work, deeper than a stack is. The
// program's exit status says how it went: 0 is well.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr int kCount = 60000;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, aclGetRecentErrMsg());
  std::_Exit(1);
}

aclrtStream new_stream() {
  aclrtStream stream = nullptr;
  require(aclrtCreateStream(&stream) == ACL_SUCCESS, "aclrtCreateStream");
  return stream;
}

std::atomic<bool> holds{false}, released{false};

void hold(void*) {
  holds = true;
  while (!released.load()) std::this_thread::yield();
}

void wait_at_the_end_of_a_chain(const std::vector<aclrtStream>& streams) {
  std::thread first([&] {
    require(aclrtSetDevice(0) == ACL_SUCCESS, "aclrtSetDevice");
    require(aclrtLaunchHostFunc(streams[0], hold, nullptr) == ACL_SUCCESS, "aclrtLaunchHostFunc");
  });
  while (!holds) std::this_thread::yield();
  aclrtEvent event = nullptr;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (i > 0) require(aclrtStreamWaitEvent(streams[i], event) == ACL_SUCCESS, "wait");
    require(aclrtCreateEvent(&event) == ACL_SUCCESS, "aclrtCreateEvent");
    require(aclrtRecordEvent(event, streams[i]) == ACL_SUCCESS, "aclrtRecordEvent");
  }
  require(aclrtSynchronizeStreamWithTimeout(streams.back(), 1) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
          "a wait for a chain that is held");
  released = true;
  require(aclrtSynchronizeStream(streams.back()) == ACL_SUCCESS, "a wait for a chain");
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
  require(aclrtLaunchHostFunc(stream, launch_next, user_data) == ACL_SUCCESS, "a nested launch");
}

void launch_from_what_is_launched(const std::vector<aclrtStream>& streams) {
  Nested nested{streams};
  launch_next(&nested);
  for (aclrtStream stream : streams)
    require(aclrtSynchronizeStream(stream) == ACL_SUCCESS, "a wait for nested work");
  require(nested.next == streams.size(), "nested work did not run");
}

}  // namespace

int main() {
  require(aclrtSetDevice(0) == ACL_SUCCESS, "aclrtSetDevice");
  std::vector<aclrtStream> streams;
  for (int i = 0; i < kCount; ++i) streams.push_back(new_stream());
  wait_at_the_end_of_a_chain(streams);
  launch_from_what_is_launched(streams);
  return 0;
}
