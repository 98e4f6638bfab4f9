// SPDX-License-Identifier: Apache-2.0
// Ends of streams and devices whose work waits for a callback that no thread runs, or comes to wait
// for one only after somebody waits for it. A call that hangs is ended by an alarm. The program's
// exit status says how it went: 0 is well.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "parallel.h"

namespace {

std::atomic<bool> go{false};
std::atomic<int> callbacks{0};

void nothing(void*) {}
void nap(void*) { usleep(200'000); }
void hold(void*) {
  while (!go) std::this_thread::yield();
}
void count(void*) { ++callbacks; }

// A thread that is subscribed, and never processes reports.
class Idle {
 public:
  Idle()
      : thread_([this] {
          while (!end_) usleep(1000);
        }) {}
  ~Idle() {
    end_ = true;
    thread_.join();
  }
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;
  uint64_t id() { return static_cast<uint64_t>(thread_.native_handle()); }

 private:
  std::atomic<bool> end_{false};
  std::thread thread_;
};

// One stream waits for another, which comes to its callback only later.
struct Chain {
  aclrtStream last = new_stream(), first = new_stream();
  aclrtEvent event = nullptr;
  explicit Chain(uint64_t subscriber) {
    EXPECT_OK(aclrtCreateEvent(&event));
    EXPECT_OK(aclrtSubscribeReport(subscriber, first));
    EXPECT_OK(aclrtLaunchHostFunc(first, nap, nullptr));
    EXPECT_OK(aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_BLOCK, first));
    EXPECT_OK(aclrtRecordEvent(event, first));
    EXPECT_OK(aclrtStreamWaitEvent(last, event));
  }
};

// A fill of memory that is freed by the time the stream comes to it.
void fail_in(aclrtStream stream) {
  go = false;
  void* block = nullptr;
  EXPECT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtLaunchHostFunc(stream, hold, nullptr));
  EXPECT_OK(aclrtMemsetAsync(block, 64, 0, 64, stream));
  EXPECT_OK(aclrtFree(block));
  go = true;
  wait_by_asking(stream);
}

void expect_message(const std::string& start, const char* end) {
  const char* const message = aclGetRecentErrMsg();
  EXPECT(message != nullptr && std::strncmp(message, start.c_str(), start.size()) == 0 &&
         std::strstr(message, end) != nullptr);
}

void a_forced_reset_of_a_chain() {
  Idle idle;
  const Chain chain(idle.id());
  EXPECT_OK(aclrtResetDeviceForce(0));
  expect_message("aclrtResetDeviceForce: ", "dropped before running");
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtDestroyStream(chain.last));
  EXPECT_OK(aclrtDestroyStream(chain.first));
  EXPECT_OK(aclrtSynchronizeDevice());
}

void a_wait_for_what_comes_to_wait_for_the_caller() {
  const Chain chain(static_cast<uint64_t>(pthread_self()));
  EXPECT(aclrtSynchronizeStream(chain.last) == ACL_ERROR_RT_PARAM_INVALID);
  EXPECT(aclrtSynchronizeStreamWithTimeout(chain.last, 60'000) == ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_OK(aclrtProcessReport(10'000));
  EXPECT_OK(aclrtSynchronizeStream(chain.last));
  EXPECT_OK(aclrtDestroyStream(chain.last));
  EXPECT_OK(aclrtDestroyStream(chain.first));
}

void failures_and_dropped_work_are_both_told() {
  Idle idle;
  const aclrtStream stream = new_stream();
  fail_in(stream);
  EXPECT_OK(aclrtSubscribeReport(idle.id(), stream));
  EXPECT_OK(aclrtLaunchCallback(count, nullptr, ACL_CALLBACK_BLOCK, stream));
  let_one_piece_run(stream);  // hands the callback over
  EXPECT(aclrtDestroyStreamForce(stream) == ACL_ERROR_RT_PARAM_INVALID);
  expect_message("aclrtDestroyStreamForce: aclrtMemsetAsync: ", "; 1 piece of queued work");
}

// They are work that has not run, too.
void callbacks_that_do_not_block() {
  const auto self = static_cast<uint64_t>(pthread_self());
  const aclrtStream stream = new_stream(), other = new_stream();
  for (aclrtStream each : {stream, other}) {
    EXPECT_OK(aclrtSubscribeReport(self, each));
    EXPECT_OK(aclrtLaunchCallback(count, nullptr, ACL_CALLBACK_NO_BLOCK, each));
  }
  EXPECT_OK(aclrtDestroyStreamForce(stream));
  expect_message("aclrtDestroyStreamForce: ", "1 piece of queued work was dropped");
  EXPECT_OK(aclrtResetDeviceForce(0));
  expect_message("aclrtResetDeviceForce: ", "1 piece of queued work was dropped");
  EXPECT(aclrtProcessReport(1) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT(callbacks == 0);
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtDestroyStream(other));
}

void a_reset_names_itself() {
  EXPECT_OK(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), nullptr));
  EXPECT_OK(aclrtLaunchCallback(count, nullptr, ACL_CALLBACK_BLOCK, nullptr));
  EXPECT_OK(aclrtResetDevice(0));
  expect_message("aclrtResetDevice: ", "dropped before running");
  EXPECT_OK(aclrtSetDevice(0));
}

// A stream of the program's that a thread of the parent was running does not outlast the end.
void a_forked_child_after_its_reset() {
  go = false;
  const aclrtStream stream = new_stream();
  EXPECT_OK(aclrtLaunchHostFunc(stream, hold, nullptr));
  let_one_piece_run(stream);
  usleep(50'000);  // most likely it runs by then
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    EXPECT(aclrtSynchronizeDevice() == ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_OK(aclrtResetDeviceForce(0));
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtSynchronizeDevice());
    EXPECT_OK(aclrtDestroyStream(stream));
    _exit(failed.load() == 0 ? 0 : 1);
  }
  int status = 1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  go = true;
  EXPECT_OK(aclrtDestroyStream(stream));
}

}  // namespace

int main() {
  alarm(120);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  a_forced_reset_of_a_chain();
  a_wait_for_what_comes_to_wait_for_the_caller();
  failures_and_dropped_work_are_both_told();
  callbacks_that_do_not_block();
  a_reset_names_itself();
  a_forked_child_after_its_reset();
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtCreateContext(&context, 0));
  fail_in(nullptr);
  EXPECT_OK(aclFinalize());  // on stderr, though the context is not the device's own
  return failed.load() == 0 ? 0 : 1;
}
