// SPDX-License-Identifier: Apache-2.0
#include "shortage.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace fuzz {
namespace {

constexpr int kNoLimit = -1;

thread_local constinit int calls_within = 0;
thread_local constinit int blocks_left = kNoLimit;
std::atomic<bool> has_run_short{false};
std::atomic<unsigned long> times{0};
std::atomic<long> live{0};

// The function whose next call fails, how, and whether it runs.
const char* failing = nullptr;
const char* watched = nullptr;
std::atomic<int> first_status{0};
std::atomic<int> blocks_for_all{kNoLimit};
std::atomic<bool> all_others_fail{false}, runs{false}, has_failed{false};

bool fails_for_all() {
  if (!runs || blocks_for_all < 0) return false;
  if (blocks_for_all > 0) return blocks_for_all.fetch_sub(1), false;
  if (!all_others_fail) blocks_for_all = kNoLimit;
  return has_failed = true;
}

bool fails_here() {
  if (calls_within == 0 || blocks_left == kNoLimit) return false;
  return blocks_left-- == 0;  // kNoLimit is left
}

bool is_short() {
  if (!fails_for_all() && !fails_here()) return false;
  has_run_short = true;
  ++times;
  errno = ENOMEM;  // the C library relies on it
  return true;
}

}  // namespace

void run_short_after(int blocks) { blocks_left = blocks; }
void end_shortage() { blocks_left = kNoLimit; }
bool ran_short() { return has_run_short; }
void forget_shortages() { has_run_short = false; }
unsigned long shortages() { return times; }

void fail_within(const char* function, int blocks, bool all_others) {
  failing = watched = function;
  first_status = 0;
  all_others_fail = all_others;
  blocks_for_all = blocks;
  has_failed = false;
}
bool end_failing() {
  failing = nullptr;
  return has_failed;
}
void note_status(const char* function, int status) {
  if (watched == nullptr || std::strcmp(function, watched) != 0) return;
  first_status = status;
  watched = nullptr;
}
int failing_status() { return first_status; }
long live_blocks() { return live; }

Within::Within(const char* function) {
  ++calls_within;
  if (failing != nullptr && calls_within == 1 && std::strcmp(function, failing) == 0) runs = true;
}
Within::~Within() {
  if (--calls_within == 0 && runs.exchange(false)) failing = nullptr;
}

namespace {

[[maybe_unused]] void* counted(void* block) {
  if (block != nullptr) ++live;
  return block;
}

}  // namespace
}  // namespace fuzz

#ifdef SANITIZED  // by what has a malloc() of its own

void* operator new(size_t size) {
  void* block = fuzz::is_short() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
// Of temporary buffers, which standard algorithms do without.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return fuzz::is_short() ? nullptr : std::malloc(size);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

#else

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

void* malloc(size_t size) {
  return fuzz::is_short() ? nullptr : fuzz::counted(__libc_malloc(size));
}
void* calloc(size_t count, size_t size) {
  return fuzz::is_short() ? nullptr : fuzz::counted(__libc_calloc(count, size));
}
void* realloc(void* block, size_t size) {
  if (fuzz::is_short()) return nullptr;
  void* moved = __libc_realloc(block, size);
  return block == nullptr ? fuzz::counted(moved) : moved;
}
void* memalign(size_t alignment, size_t size) {
  return fuzz::is_short() ? nullptr : fuzz::counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  if (block != nullptr) --fuzz::live;
  __libc_free(block);
}
}

#endif
