// SPDX-License-Identifier: Apache-2.0
// What schedules show. The argument says which program it is; it prints what it saw.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "parallel.h"

namespace {

constexpr size_t kBytes = 64;

void print(const void* block) {
  unsigned char bytes[kBytes];
  EXPECT_OK(aclrtMemcpy(bytes, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  std::printf("%d\n", bytes[0]);
}

// A stream writes, and the program reads, with and without a synchronisation in between.
void read_after_write(bool synchronizes) {
  const aclrtStream stream = new_stream();
  void* const block = new_block(kBytes, 1);
  EXPECT_OK(aclrtMemsetAsync(block, kBytes, 2, kBytes, stream));
  if (synchronizes) EXPECT_OK(aclrtSynchronizeStream(stream));
  print(block);
}

// One stream writes, and another one copies that, with and without an event in between.
void copy_in_another_stream(bool waits) {
  const aclrtStream writer = new_stream(), reader = new_stream();
  void *const from = new_block(kBytes, 1), *const to = new_block(kBytes, 0);
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtMemsetAsync(from, kBytes, 2, kBytes, writer));
  EXPECT_OK(aclrtRecordEvent(event, writer));
  if (waits) EXPECT_OK(aclrtStreamWaitEvent(reader, event));
  EXPECT_OK(aclrtMemcpyAsync(to, kBytes, from, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, reader));
  EXPECT_OK(aclrtSynchronizeDevice());
  print(to);
}

// Host functions of three streams print their names: in any order, but in order within a stream.
void print_order() {
  static char names[3][5][3];
  for (int i = 0; i < 3; ++i) {
    const aclrtStream stream = new_stream();
    for (int k = 0; k < 5; ++k) {
      std::snprintf(names[i][k], 3, "%c%c", 'a' + i, '0' + k);
      EXPECT_OK(aclrtLaunchHostFunc(
          stream, [](void* name) { std::printf("%s ", static_cast<char*>(name)); }, names[i][k]));
    }
  }
  EXPECT_OK(aclrtSynchronizeDevice());
  std::printf("\n");
}

// Asks until a stream that waits for another one is done, and counts the questions.
void ask_until_done() {
  const aclrtStream first = new_stream(), second = new_stream();
  void* const block = new_block(kBytes, 1);
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtMemsetAsync(block, kBytes, 2, kBytes, first));
  EXPECT_OK(aclrtRecordEvent(event, first));
  EXPECT_OK(aclrtStreamWaitEvent(second, event));
  EXPECT_OK(aclrtMemsetAsync(block, kBytes, 3, kBytes, second));
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  int questions = 0;
  for (; status != ACL_STREAM_STATUS_COMPLETE; ++questions)
    EXPECT_OK(aclrtStreamQuery(second, &status));
  print(block);
  std::printf("%d questions\n", questions);
}

// Looks at memory until a host function has written there, and calls nothing.
void look_until_written() {
  static std::atomic<bool> written{false};
  EXPECT_OK(aclrtLaunchHostFunc(new_stream(), [](void*) { written = true; }, nullptr));
  while (!written) {
  }
  std::printf("written\n");
}

// Much work that nobody waits for, in a stream that waits for another one.
void launch_far_ahead() {
  const aclrtStream first = new_stream(), second = new_stream();
  static std::atomic<int> runs{0};
  const auto count = [](void*) { ++runs; };
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtRecordEvent(event, first));
  EXPECT_OK(aclrtStreamWaitEvent(second, event));
  constexpr int kLaunches = 3000;
  for (int i = 0; i < kLaunches; ++i) EXPECT_OK(aclrtLaunchHostFunc(second, count, nullptr));
  std::printf("%s\n", runs >= kLaunches - 1100 ? "bounded" : "unbounded");
  EXPECT_OK(aclrtSynchronizeStream(second));
  std::printf("%d\n", runs.load());
}

}  // namespace

int main(int count, char** arguments) {
  setenv("SOFTNPU_BANNER", "0", 1);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  const std::string_view wanted = count == 2 ? arguments[1] : "";
  if (wanted == "read at once") read_after_write(false);
  if (wanted == "synchronize and read") read_after_write(true);
  if (wanted == "copy at once") copy_in_another_stream(false);
  if (wanted == "wait and copy") copy_in_another_stream(true);
  if (wanted == "print the order") print_order();
  if (wanted == "ask") ask_until_done();
  if (wanted == "look") look_until_written();
  if (wanted == "launch far ahead") launch_far_ahead();
  EXPECT_OK(aclFinalize());
  return failed.load() == 0 ? 0 : 1;
}
