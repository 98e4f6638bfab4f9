// SPDX-License-Identifier: Apache-2.0
#include "shortage.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace fuzz {
namespace {

constexpr int kNoLimit = -1;

thread_local constinit int calls_within = 0;
thread_local constinit int blocks_left = kNoLimit;
std::atomic<bool> has_run_short{false};
std::atomic<unsigned long> times{0};

bool is_short() {
  if (calls_within == 0 || blocks_left == kNoLimit) return false;
  if (blocks_left-- > 0) return false;
  has_run_short = true;
  ++times;
  return true;  // kNoLimit is left
}

}  // namespace

void run_short_after(int blocks) { blocks_left = blocks; }
void end_shortage() { blocks_left = kNoLimit; }
bool ran_short() { return has_run_short; }
void forget_shortages() { has_run_short = false; }
unsigned long shortages() { return times; }

Within::Within() { ++calls_within; }
Within::~Within() { --calls_within; }

}  // namespace fuzz

void* operator new(size_t size) {
  void* block = fuzz::is_short() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
