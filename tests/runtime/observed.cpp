// SPDX-License-Identifier: Apache-2.0
// Programs whose descriptors, streams and limits get in the way of those who observe them; the
// argument says which. Each ends with 0 by itself, and prints "done".
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>
#include <thread>

#include "parallel.h"

namespace {

constexpr size_t kBytes = 64;
void* block = nullptr;

void calls(int count) {
  int own = 0;
  for (int i = 0; i < count; ++i) {
    EXPECT_OK(aclrtMemset(block, kBytes, 0, kBytes));
    EXPECT(aclrtFree(&own) == ACL_ERROR_RT_PARAM_INVALID);
  }
}

// The program has no descriptors but the usual ones, and then a file of its own.
int without_descriptors() {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);
  return open("own", O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

void without_more_descriptors() {
  const rlimit none{0, 0};
  EXPECT(setrlimit(RLIMIT_NOFILE, &none) == 0);
}

// In a thread that waits for what nobody types, and has the lock of stdin meanwhile.
void wait_for_a_key() {
  std::thread([] { (void)std::getchar(); }).detach();
  while (ftrylockfile(stdin) == 0) {
    funlockfile(stdin);
    std::this_thread::yield();
  }
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view how = arguments[1];
  const int own = how == "files" ? open("own", O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  calls(how == "many calls" ? 2000 : 5);
  if (how == "no more descriptors") {
    without_more_descriptors();
    calls(5);
  }
  if (how == "no descriptors") {
    EXPECT(without_descriptors() == 3);
    calls(5);
  }
  if (how == "twice") {
    std::puts("once");
    std::fflush(stdout);
    (void)std::getchar();
    calls(5);
  }
  if (how == "files") EXPECT(write(own, "own", 3) == 3);
  if (how == "a key" || how == "a fault") wait_for_a_key();
  std::printf("done");
  if (how == "a fault") *static_cast<volatile char*>(block) = 1;
  if (how != "a key") EXPECT_OK(aclrtFree(block));
  return failed.load() == 0 ? 0 : 1;
}
