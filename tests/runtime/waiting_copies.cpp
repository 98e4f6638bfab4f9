// SPDX-License-Identifier: Apache-2.0
// Copies and fills that wait in a stream have not touched their destination, which is memory of the
// program here: what another stream writes there stays until their turn comes.
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "acl/acl.h"
#include "parallel.h"

namespace {

constexpr int kRounds = 100, kWaiting = 120;
constexpr size_t kPitch = 2;

std::atomic<bool> released{false};
std::atomic<int> rounds_queued{0}, rounds_seen{0}, rounds_over{0};  // none ever falls

void wait_for(const std::atomic<int>& rounds, int value) {
  while (rounds.load() < value) std::this_thread::yield();
}

// Each kind writes zeros; one byte, so that it is the first and the last.
void queue_some(uint8_t* destination, const void* zeros, aclrtStream stream) {
  for (int i = 0; i < kWaiting; ++i) {
    EXPECT_OK(aclrtMemsetAsync(destination, 1, 0, 1, stream));
    EXPECT_OK(aclrtMemcpyAsync(destination, 1, zeros, 1, ACL_MEMCPY_DEFAULT, stream));
    EXPECT_OK(
        aclrtMemcpy2dAsync(destination, kPitch, zeros, kPitch, 1, 1, ACL_MEMCPY_DEFAULT, stream));
  }
}

void queue_rounds(uint8_t* destination) {
  EXPECT_OK(aclrtSetDevice(0));
  {
    const Buffer zeros(64);
    EXPECT_OK(aclrtMemset(zeros.address, 64, 0, 64));
    const StreamOwner waiting;
    for (int round = 1; round <= kRounds; ++round) {
      released = false;
      const auto wait = [](void*) {
        while (!released.load()) std::this_thread::yield();
      };
      EXPECT_OK(aclrtLaunchHostFunc(waiting.stream, wait, nullptr));
      queue_some(destination, zeros.address, waiting.stream);
      rounds_queued = round;
      wait_for(rounds_seen, round);  // the other thread looks no more
      released = true;
      EXPECT_OK(aclrtSynchronizeStream(waiting.stream));
      EXPECT(*destination == 0);  // their turn has come
      rounds_over = round;
    }
  }
  EXPECT_OK(aclrtResetDevice(0));
}

// Until the round is queued, what this stream writes must be there when it is done.
void write_and_look(uint8_t* destination, int round, aclrtStream stream) {
  for (int value = 1; rounds_queued.load() < round; value = value % 255 + 1) {
    EXPECT_OK(aclrtMemsetAsync(destination, 1, value, 1, stream));
    EXPECT_OK(aclrtSynchronizeStream(stream));
    for (int look = 0; look < 50; ++look)
      if (*static_cast<volatile uint8_t*>(destination) != value) {
        expect(false, "a copy that waits has written");
        break;
      }
  }
}

}  // namespace

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  alignas(64) static std::array<uint8_t, 64> destination{};
  std::thread other(queue_rounds, destination.data());
  {
    const StreamOwner own;
    for (int round = 1; round <= kRounds; ++round) {
      write_and_look(destination.data(), round, own.stream);
      rounds_seen = round;
      wait_for(rounds_over, round);
    }
  }
  other.join();
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  std::printf("%d passed, %d failed\n", passed.load(), failed.load());
  return failed.load() == 0 ? 0 : 1;
}
