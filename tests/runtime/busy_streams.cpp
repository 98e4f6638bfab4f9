// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other's work in ways that a device would not mind. A test that hangs
// is ended by an alarm. The program's exit status says how it went: 0 is well.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "acl/acl.h"

namespace {

using Flag = std::atomic<bool>;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, aclGetRecentErrMsg());
  std::_Exit(1);
}
#define REQUIRE_OK(call) require((call) == ACL_SUCCESS, #call)

void wait_for(const Flag& flag) {
  while (!flag.load()) std::this_thread::yield();
}

struct Stream {
  Stream() { REQUIRE_OK(aclrtCreateStream(&handle)); }
  ~Stream() { REQUIRE_OK(aclrtDestroyStream(handle)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  aclrtStream handle = nullptr;
};

// Says that it has begun, and ends when it may.
struct Held {
  Flag begun{false}, may_end{false};
  static void run(void* self) {
    auto& held = *static_cast<Held*>(self);
    held.begun = true;
    wait_for(held.may_end);
  }
};

void set(void* flag) { *static_cast<Flag*>(flag) = true; }
void wait(void* flag) { wait_for(*static_cast<Flag*>(flag)); }

// Another thread has launched behind what a thread launched, and waits for that one's launch.
void a_launch_returns_when_its_own_work_is_done() {
  const Stream stream;
  Held first;
  Flag returned{false}, done{false};
  std::thread launcher([&] {
    REQUIRE_OK(aclrtSetDevice(0));
    REQUIRE_OK(aclrtLaunchHostFunc(stream.handle, Held::run, &first));
    returned = true;
  });
  wait_for(first.begun);
  REQUIRE_OK(aclrtLaunchHostFunc(stream.handle, wait, &returned));
  REQUIRE_OK(aclrtLaunchHostFunc(stream.handle, set, &done));
  first.may_end = true;
  wait_for(done);
  launcher.join();
}

// What an event released runs while the releasing thread's own later work waits for it.
void released_work_runs_beside_its_releaser() {
  const Stream one, other;
  aclrtEvent event = nullptr;
  REQUIRE_OK(aclrtCreateEvent(&event));
  Held first;
  Flag done{false};
  std::thread launcher([&] {
    REQUIRE_OK(aclrtSetDevice(0));
    REQUIRE_OK(aclrtLaunchHostFunc(one.handle, Held::run, &first));
  });
  wait_for(first.begun);
  REQUIRE_OK(aclrtRecordEvent(event, one.handle));
  REQUIRE_OK(aclrtStreamWaitEvent(other.handle, event));
  REQUIRE_OK(aclrtLaunchHostFunc(other.handle, set, &done));
  REQUIRE_OK(aclrtLaunchHostFunc(one.handle, wait, &done));
  first.may_end = true;
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) REQUIRE_OK(aclrtStreamQuery(other.handle, &status));
  launcher.join();
  REQUIRE_OK(aclrtDestroyEvent(event));
}

// A thread launches without end into a stream that another one runs, which waits for that one.
void launching_far_ahead() {
  const Stream stream;
  Held first;
  std::thread launcher([&] {
    REQUIRE_OK(aclrtSetDevice(0));
    REQUIRE_OK(aclrtLaunchHostFunc(stream.handle, Held::run, &first));
  });
  wait_for(first.begun);
  std::atomic<int> runs{0};
  const auto count = [](void* number) { ++*static_cast<std::atomic<int>*>(number); };
  constexpr int kLaunches = 1005;  // the last few of them are slowed down
  for (int i = 0; i < kLaunches; ++i) REQUIRE_OK(aclrtLaunchHostFunc(stream.handle, count, &runs));
  first.may_end = true;
  REQUIRE_OK(aclrtSynchronizeStream(stream.handle));
  require(runs == kLaunches, "not all work ran once");
  launcher.join();
}

}  // namespace

int main() {
  alarm(120);
  REQUIRE_OK(aclrtSetDevice(0));
  for (int i = 0; i < 20; ++i) {
    a_launch_returns_when_its_own_work_is_done();
    released_work_runs_beside_its_releaser();
  }
  launching_far_ahead();
  return 0;
}
