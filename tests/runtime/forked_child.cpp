// SPDX-License-Identifier: Apache-2.0
// Forks while other threads allocate, and make and destroy handles, above all while they do so for
// the first time, and while they run the work of a stream. A child that finds a lock held waits for
// ever, until its alarm ends it. Its argument says which of the three, "others call", "a stream
// runs" or "a callback waits", its exit status how it went: 0 is well.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace {

bool use_memory() {
  void* block = nullptr;
  return aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS &&
         aclrtMemset(block, 64, 0, 64) == ACL_SUCCESS && aclrtFree(block) == ACL_SUCCESS;
}

bool use_handles() {
  const int64_t count = 1;
  aclTensor* const tensor =
      aclCreateTensor(&count, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &count, 1, nullptr);
  return tensor != nullptr && aclDestroyTensor(tensor) == ACL_SUCCESS;
}

bool use_streams() {
  aclrtStream stream = nullptr;
  return aclrtCreateStream(&stream) == ACL_SUCCESS && aclrtDestroyStream(stream) == ACL_SUCCESS;
}

bool use_devices() {
  return aclrtSetDevice(0) == ACL_SUCCESS && aclrtResetDevice(0) == ACL_SUCCESS;
}

bool use_process() {
  const aclError status = aclInit(nullptr);
  int64_t value = 0;
  return (status == ACL_SUCCESS || status == ACL_ERROR_REPEAT_INITIALIZE) &&
         aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1) == ACL_SUCCESS &&
         aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value) == ACL_SUCCESS && value == 1;
}

constexpr bool (*kUses[])() = {use_memory, use_handles, use_streams, use_devices, use_process};

int child() {
  alarm(60);
  for (const auto use : kUses)
    if (!use()) return 1;
  return 0;
}

int exit_status_of(pid_t pid) {
  int status = 1;
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

int fork_while_others_call() {
  if (aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (const auto use : kUses)
    threads.emplace_back([use, &stop] {
      aclrtSetDevice(0);
      while (!stop) use();
    });
  int failed = 0;
  for (int i = 0; i < 20 && failed == 0; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(child());
    failed = exit_status_of(pid);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return failed;
}

std::atomic<bool> runs{false}, may_end{false};

void hold(void*) {
  runs = true;
  while (!may_end) usleep(100);
}

// The stream's work will never be done here; the device can be had again.
int child_of_running_stream(aclrtStream stream, aclrtEvent event) {
  alarm(60);
  aclrtStreamStatus of_stream;
  aclrtEventStatus of_event;
  for (const aclError status :
       {aclrtSynchronizeStream(nullptr), aclrtSynchronizeStream(stream),
        aclrtStreamQuery(nullptr, &of_stream), aclrtQueryEvent(event, &of_event),
        aclrtLaunchHostFunc(nullptr, hold, nullptr)})
    if (status != ACL_ERROR_RT_INVALID_HANDLE) return 3;
  if (aclrtResetDevice(0) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 4;
  may_end = true;
  if (aclrtLaunchHostFunc(nullptr, hold, nullptr) != ACL_SUCCESS) return 5;
  return aclrtSynchronizeStream(nullptr) == ACL_SUCCESS ? child() : 6;
}

// One thread runs the default stream's work, one waits for it, and a stream waits for an event.
int fork_while_a_stream_runs() {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  if (aclrtSetDevice(0) != ACL_SUCCESS || aclrtCreateStream(&stream) != ACL_SUCCESS ||
      aclrtCreateEvent(&event) != ACL_SUCCESS)
    return 1;
  aclrtContext context = nullptr;
  aclrtGetCurrentContext(&context);
  std::thread runner([&] {
    aclrtSetCurrentContext(context);
    aclrtLaunchHostFunc(nullptr, hold, nullptr);
  });
  while (!runs) usleep(100);
  aclrtRecordEvent(event, nullptr);
  aclrtStreamWaitEvent(stream, event);
  std::thread waiter([&] {
    aclrtSetCurrentContext(context);
    aclrtSynchronizeStream(nullptr);
  });
  usleep(10'000);  // most likely it waits by then
  const pid_t pid = fork();
  if (pid == 0) _exit(child_of_running_stream(stream, event));
  const int failed = exit_status_of(pid);
  may_end = true;
  runner.join();
  waiter.join();
  return failed != 0 ? failed : aclrtSynchronizeStream(stream);
}

// A stream waits for a callback of another thread, another stream for that one.
int child_of_waiting_callback(aclrtStream stream, aclrtStream other, aclrtEvent event) {
  alarm(60);
  for (const aclError status :
       {aclrtSynchronizeStream(stream), aclrtSynchronizeStream(other), aclrtSynchronizeDevice(),
        aclrtSynchronizeEvent(event), aclrtDestroyStream(stream)})
    if (status != ACL_ERROR_RT_INVALID_HANDLE) return 3;
  if (aclrtResetDeviceForce(0) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 4;
  if (aclrtSynchronizeDevice() != ACL_SUCCESS) return 5;
  return aclFinalize() == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS ? child() : 6;
}

int fork_while_a_callback_waits() {
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent event = nullptr;
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
      aclrtCreateStream(&stream) != ACL_SUCCESS || aclrtCreateStream(&other) != ACL_SUCCESS ||
      aclrtCreateEvent(&event) != ACL_SUCCESS)
    return 1;
  std::thread keeper([] {
    while (!may_end) usleep(100);
    aclrtProcessReport(10'000);
  });
  const auto thread = static_cast<uint64_t>(keeper.native_handle());
  if (aclrtSubscribeReport(thread, stream) != ACL_SUCCESS ||
      aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream) != ACL_SUCCESS ||
      aclrtRecordEvent(event, stream) != ACL_SUCCESS ||
      aclrtStreamWaitEvent(other, event) != ACL_SUCCESS)
    return 2;
  // Has the callback handed over, also where work is held back until a program asks twice.
  aclrtStreamStatus status;
  aclrtStreamQuery(stream, &status);
  aclrtStreamQuery(stream, &status);
  // The first child releases device and streams by one call, the second by another.
  int failed = 0;
  pid_t pid = fork();
  if (pid == 0) _exit(child_of_waiting_callback(stream, other, event));
  failed = exit_status_of(pid);
  pid = fork();
  if (pid == 0) {
    alarm(60);
    _exit(aclFinalize() == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS ? child() : 7);
  }
  if (failed == 0) failed = exit_status_of(pid);
  may_end = true;
  keeper.join();
  return failed != 0 ? failed : aclrtSynchronizeDevice();
}

}  // namespace

int main(int count, char** arguments) {
  setenv("SOFTNPU_BANNER", "0", 1);
  if (count != 2) return 7;
  if (std::string_view(arguments[1]) == "a stream runs") return fork_while_a_stream_runs();
  if (std::string_view(arguments[1]) == "a callback waits") return fork_while_a_callback_waits();
  // Each time in a process that has not called anything.
  for (int i = 0; i < 20; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(fork_while_others_call());
    if (const int failed = exit_status_of(pid)) return failed;
  }
  return 0;
}
