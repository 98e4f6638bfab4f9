// SPDX-License-Identifier: Apache-2.0
// Eight threads use the pool of buffers at once; one more empties it and moves its limit, and the
// process forks meanwhile. Every buffer is written and read back, so that one handed out twice
// shows; sanitizers check the rest. Exits with 1 on any mistake.
#include "memory/buffer_pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

using namespace softnpu::memory;
using softnpu::kLargeBytes;

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 300;
constexpr size_t kPage = 4096;
constexpr size_t kLimit = 6 * kLargeBytes;

std::atomic<int> failures{0};

#define EXPECT(condition)                               \
  do {                                                  \
    if (!(condition)) {                                 \
      failures.fetch_add(1);                            \
      std::fprintf(stderr, "FAILED: %s\n", #condition); \
    }                                                   \
  } while (false)

struct Held {
  std::byte* data;
  size_t bytes;
  uint64_t mark;
};

// One number in each page.
void fill(const Held& held) {
  for (size_t at = 0; at + sizeof held.mark <= held.bytes; at += kPage)
    std::memcpy(held.data + at, &held.mark, sizeof held.mark);
}
bool is_untouched(const Held& held) {
  for (size_t at = 0; at + sizeof held.mark <= held.bytes; at += kPage)
    if (std::memcmp(held.data + at, &held.mark, sizeof held.mark) != 0) return false;
  return true;
}

void acquire_and_release(int thread) {
  std::vector<Held> held;
  for (int round = 0; round < kRounds; ++round) {
    const size_t bytes = kLargeBytes + static_cast<size_t>(round * 7 % 5) * 123457;
    const Held made{acquire_buffer(bytes), bytes,
                    static_cast<uint64_t>(thread) << 32 | static_cast<uint64_t>(round)};
    EXPECT(made.data != nullptr);
    EXPECT(find_buffer(made.data)->bytes == bytes);
    fill(made);
    held.push_back(made);
    if (round % 4 == 0) continue;
    const size_t which = static_cast<size_t>(round) % held.size();
    EXPECT(is_untouched(held[which]));
    EXPECT(release_buffer(held[which].data));
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    while (held.size() > 2) {
      EXPECT(is_untouched(held.front()));
      EXPECT(release_buffer(held.front().data));
      held.erase(held.begin());
    }
  }
  for (const Held& one : held) {
    EXPECT(is_untouched(one));
    EXPECT(release_buffer(one.data));
  }
}

void disturb(const std::atomic<bool>& stop) {
  for (size_t round = 0; !stop.load(); ++round) {
    set_pool_limit(round % 3 * kLargeBytes * 3);
    release_idle_buffers();
    std::this_thread::yield();
  }
}

void fork_now_and_then(const std::atomic<bool>& stop) {
  while (!stop.load()) {
    const pid_t child = fork();
    if (child == 0) {
      const bool empty = pool_usage().idle == 0;
      std::byte* const data = acquire_buffer(kLargeBytes);
      const bool taken = data != nullptr && release_buffer(data);
      _exit(empty && taken ? 0 : 1);
    }
    int status = -1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void misuse() {
  int local = 0;
  EXPECT(acquire_buffer(SIZE_MAX) == nullptr);
  EXPECT(acquire_buffer(SIZE_MAX / 2) == nullptr);
  EXPECT(acquire_buffer(kLargeBytes - 1) == nullptr);
  EXPECT(!release_buffer(nullptr));
  EXPECT(!release_buffer(&local));
  std::byte* const data = acquire_buffer(kLargeBytes);
  EXPECT(find_buffer(data)->fresh);
  EXPECT(!release_buffer(data + 1));
  EXPECT(release_buffer(data));
  EXPECT(!release_buffer(data));
  EXPECT(!find_buffer(data));
  EXPECT(acquire_buffer(kLargeBytes) == data);
  EXPECT(!find_buffer(data)->fresh);
  EXPECT(release_buffer(data));
}

}  // namespace

int main() {
  set_pool_limit(kLimit);
  misuse();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(acquire_and_release, i);
  std::thread disturber([&] { disturb(stop); });
#ifndef __SANITIZE_THREAD__  // which does not follow into the child of a process with threads
  std::thread forker([&] { fork_now_and_then(stop); });
#endif
  for (std::thread& thread : threads) thread.join();
  stop = true;
  disturber.join();
#ifndef __SANITIZE_THREAD__
  forker.join();
#endif
  EXPECT(pool_usage().live == 0);
  set_pool_limit(kLargeBytes);
  EXPECT(pool_usage().idle <= kLargeBytes);
  release_idle_buffers();
  EXPECT(pool_usage().idle == 0);
  return failures.load() == 0 ? 0 : 1;
}
