// SPDX-License-Identifier: Apache-2.0
// A program that ends with failures that no call has reported; the argument says how.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "failing_work.h"
#include "parallel.h"

namespace {

aclrtStream stream = nullptr;
std::atomic<bool> running{false};

void finalize() { EXPECT_OK(aclFinalize()); }
void synchronize() { EXPECT(aclrtSynchronizeStream(stream) == 361001); }

// A child prints its own failures alone.
void fork_and_fail() {
  fail_in(stream, 77);
  const pid_t child = fork();
  if (child == 0) {
    aclrtStream own = nullptr;
    EXPECT_OK(aclrtCreateStream(&own));
    fail_in(own, 88);
    std::exit(failed.load());
  }
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Leaves a host function running, and work behind it that never gets its turn.
void leave_running() {
  const auto forever = [](void*) {
    running = true;
    for (;;) pause();
  };
  EXPECT_OK(aclrtLaunchHostFunc(stream, forever, nullptr));
  while (!running) std::this_thread::yield();
  fail_in(stream, 66);
  fail_in(nullptr, 55);
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view how = arguments[1];
  if (how == "finalized by a handler") std::atexit(finalize);
  if (how == "fetched by a handler") std::atexit(synchronize);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtCreateStream(&stream));
  if (how == "fork") {
    fork_and_fail();
  } else if (how == "running") {
    leave_running();
  } else {
    fail_in(stream, 99);
    if (how == "two streams") fail_in(nullptr, 98);
    if (how == "two failures") fail_in(stream, 97);
  }
  if (how == "fetched") EXPECT(aclrtSynchronizeStream(stream) == 361001);
  std::fflush(nullptr);
  return failed.load() == 0 ? 0 : 1;
}
