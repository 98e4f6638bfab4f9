// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other's work in ways that a device would not mind. A test that hangs
// is ended by an alarm. The program's exit status says how it went: 0 is well.
#include <unistd.h>

#include <atomic>
#include <thread>

#include "parallel.h"

namespace {

using Flag = std::atomic<bool>;

void wait_for(const Flag& flag) {
  while (!flag.load()) std::this_thread::yield();
}

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
  const StreamOwner stream;
  Held first;
  Flag returned{false}, done{false};
  std::thread launcher([&] {
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtLaunchHostFunc(stream.stream, Held::run, &first));
    returned = true;
  });
  wait_for(first.begun);
  EXPECT_OK(aclrtLaunchHostFunc(stream.stream, wait, &returned));
  EXPECT_OK(aclrtLaunchHostFunc(stream.stream, set, &done));
  first.may_end = true;
  wait_for(done);
  launcher.join();
}

// What an event released runs while the releasing thread's own later work waits for it.
void released_work_runs_beside_its_releaser() {
  const StreamOwner one, other;
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  Held first;
  Flag done{false};
  std::thread launcher([&] {
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtLaunchHostFunc(one.stream, Held::run, &first));
  });
  wait_for(first.begun);
  EXPECT_OK(aclrtRecordEvent(event, one.stream));
  EXPECT_OK(aclrtStreamWaitEvent(other.stream, event));
  EXPECT_OK(aclrtLaunchHostFunc(other.stream, set, &done));
  EXPECT_OK(aclrtLaunchHostFunc(one.stream, wait, &done));
  first.may_end = true;
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) EXPECT_OK(aclrtStreamQuery(other.stream, &status));
  launcher.join();
  EXPECT_OK(aclrtDestroyEvent(event));
}

// A thread launches without end into a stream that another one runs, which waits for that one.
void launching_far_ahead() {
  const StreamOwner stream;
  Held first;
  std::thread launcher([&] {
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtLaunchHostFunc(stream.stream, Held::run, &first));
  });
  wait_for(first.begun);
  std::atomic<int> runs{0};
  const auto count = [](void* number) { ++*static_cast<std::atomic<int>*>(number); };
  constexpr int kLaunches = 1005;  // the last few of them are slowed down
  for (int i = 0; i < kLaunches; ++i) EXPECT_OK(aclrtLaunchHostFunc(stream.stream, count, &runs));
  first.may_end = true;
  EXPECT_OK(aclrtSynchronizeStream(stream.stream));
  EXPECT(runs == kLaunches);
  launcher.join();
}

}  // namespace

int main() {
  alarm(120);
  EXPECT_OK(aclrtSetDevice(0));
  for (int i = 0; i < 20; ++i) {
    a_launch_returns_when_its_own_work_is_done();
    released_work_runs_beside_its_releaser();
  }
  launching_far_ahead();
  return failed.load() == 0 ? 0 : 1;
}
