// SPDX-License-Identifier: Apache-2.0
// Threads that end in the middle of things: cancelled while they wait for a stream, or by
// themselves in a host function or a callback. The process must survive, and everything be usable
// after it.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "acl/acl.h"
#include "parallel.h"

namespace {

std::atomic<bool> go{false}, waits{false};
std::atomic<int> status_of_wait{-1};

void hold(void*) {
  while (!go) std::this_thread::yield();
}

bool asynchronously = false;

void* wait_for_stream(void* stream) {
  aclrtSetDevice(0);
  if (asynchronously) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  waits = true;
  status_of_wait = aclrtSynchronizeStream(stream);
  pthread_testcancel();
  return nullptr;
}

void cancel_a_waiting_thread(aclrtStream stream) {
  go = waits = false;
  status_of_wait = -1;
  EXPECT_OK(aclrtLaunchHostFunc(stream, hold, nullptr));
  pthread_t thread;
  EXPECT(pthread_create(&thread, nullptr, wait_for_stream, stream) == 0);
  while (!waits) std::this_thread::yield();
  usleep(50'000);  // most likely it is in the call by then, which asynchronous cancellation needs
  EXPECT(pthread_cancel(thread) == 0);
  go = true;
  void* result = nullptr;
  EXPECT(pthread_join(thread, &result) == 0);
  // Of a thread that ends as soon as it may be cancelled again, some C libraries give null.
  EXPECT(result == PTHREAD_CANCELED || (asynchronously && result == nullptr));
  EXPECT(status_of_wait == (asynchronously ? -1 : ACL_SUCCESS));  // it ends in the call's return
  EXPECT_OK(aclrtSynchronizeStream(stream));
}

void end_in_a_host_function(aclrtStream stream) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    EXPECT_OK(aclrtLaunchHostFunc(stream, [](void*) { pthread_exit(nullptr); }, nullptr));
    EXPECT_OK(aclrtLaunchHostFunc(
        stream, [](void* count) { static_cast<std::atomic<int>*>(count)->fetch_add(1); }, &ran));
    EXPECT(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_INTERNAL_ERROR);
    EXPECT(ran == i + 1);
    EXPECT_OK(aclrtSynchronizeStream(stream));
  }
}

void* process_reports(void*) {
  aclrtProcessReport(10'000);
  return nullptr;
}

void end_in_a_callback(aclrtStream stream) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, nullptr, process_reports, nullptr) == 0);
  EXPECT_OK(aclrtSubscribeReport(thread, stream));
  EXPECT_OK(aclrtLaunchCallback([](void* result) { pthread_exit(result); }, &go, ACL_CALLBACK_BLOCK,
                                stream));
  void* result = nullptr;
  EXPECT(pthread_join(thread, &result) == 0);
  EXPECT(result == &go || result == nullptr);  // null where it looked before it was subscribed
  EXPECT_OK(aclrtUnSubscribeReport(thread, stream));
  aclrtSynchronizeStream(stream);
}

}  // namespace

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  {
    const StreamOwner own;
    cancel_a_waiting_thread(own.stream);
    asynchronously = true;
    cancel_a_waiting_thread(own.stream);
    end_in_a_host_function(own.stream);
    for (int i = 0; i < 10; ++i) end_in_a_callback(own.stream);
  }
  EXPECT_OK(aclrtResetDevice(0));
  return failed.load() == 0 ? 0 : 1;
}
