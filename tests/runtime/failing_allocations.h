// SPDX-License-Identifier: Apache-2.0
// Calls of which one allocation fails, or all from one on, at every place where they allocate. What
// fails says so with a documented code, leaks nothing, and the next calls work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <set>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "parallel.h"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);
}

inline std::atomic<long> allocations_left{-1};  // below 0: no limit
inline std::atomic<bool> all_others_fail{false};
inline std::atomic<long> failures{0};
inline std::atomic<long> live_blocks{0};

inline bool fails() {
  if (allocations_left.load() < 0) return false;
  if (allocations_left.load() == 0) {
    errno = ENOMEM;  // the C library relies on it
    failures.fetch_add(1);
    if (!all_others_fail.load()) allocations_left = -1;
    return true;
  }
  allocations_left.fetch_sub(1);
  return false;
}

inline void* counted(void* block) {
  if (block != nullptr) live_blocks.fetch_add(1);
  return block;
}

extern "C" {
void* malloc(size_t size) { return fails() ? nullptr : counted(__libc_malloc(size)); }
void* calloc(size_t count, size_t size) {
  return fails() ? nullptr : counted(__libc_calloc(count, size));
}
void* realloc(void* block, size_t size) {
  if (fails()) return nullptr;
  void* moved = __libc_realloc(block, size);
  return block == nullptr ? counted(moved) : moved;
}
void* memalign(size_t alignment, size_t size) {
  return fails() ? nullptr : counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  if (block != nullptr) live_blocks.fetch_sub(1);
  __libc_free(block);
}
}

namespace no_memory {

// What functions of libascendcl give.
inline constexpr auto device_codes = {ACL_ERROR_BAD_ALLOC, ACL_ERROR_RT_MEMORY_ALLOCATION,
                                      ACL_ERROR_RT_RESOURCE_ALLOC_FAIL};

inline std::set<std::string> functions;  // that were called
inline long sites = 0;                   // where an allocation failed
inline bool is_warm = false;             // tables have grown to what they need
constexpr long kMostSites = 200;

// A thread keeps its last two messages. Afterwards these are the two.
inline void settle_messages() {
  for (int i = 0; i < 2; ++i) {
    (void)aclrtSetDevice(-12345);
    (void)aclGetRecentErrMsg();
  }
  (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

// Threads of the library's own release what they ran a moment after it is done.
inline bool soon(long blocks) {
  for (int i = 0; i < 200 && live_blocks.load() != blocks; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return live_blocks.load() == blocks;
}
inline long blocks_at_rest() {
  long last = live_blocks.load();
  for (int quiet = 0; quiet < 20; ++quiet) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const long now = live_blocks.load();
    if (now != last) quiet = 0;
    last = now;
  }
  return last;
}

inline bool others_work() {
  float one = 1;
  aclScalar* scalar = aclCreateScalar(&one, ACL_FLOAT);
  return scalar != nullptr && aclDestroyScalar(scalar) == 0;
}

inline void complain(const char* function, long site, int status, const char* what) {
  std::fprintf(stderr, "%s, allocation %ld (%s fails), status %d: %s\n", function, site,
               all_others_fail.load() ? "each from there on" : "it alone", status, what);
  failed.fetch_add(1);
}

struct Outcome {
  bool reached = false;  // the call made so many allocations
  bool leaked = false;
  int status = 0;
};

// One call with a failing allocation.
template <class Call, class Undo>
Outcome fail_once(const char* function, std::initializer_list<int> codes, long site,
                  const Call& call, const Undo& undo) {
  settle_messages();
  const long before = live_blocks.load(), failures_before = failures.load();
  allocations_left = site;
  const int status = call();
  allocations_left = -1;
  Outcome outcome{failures.load() > failures_before, false, status};
  settle_messages();
  if (status == 0) {
    undo();
  } else {
    if (!outcome.reached) complain(function, site, status, "it failed without a reason");
    if (std::find(codes.begin(), codes.end(), status) == codes.end())
      complain(function, site, status, "the code is not documented");
    outcome.leaked = is_warm && !soon(before);
  }
  if (!others_work()) complain(function, site, status, "the next calls fail");
  return outcome;
}

// `prepare` makes what the call needs and lacks; `undo` ends what it made.
template <class Prepare, class Call, class Undo>
void at_every_site(const char* function, std::initializer_list<int> codes, const Prepare& prepare,
                   const Call& call, const Undo& undo) {
  functions.insert(function);
  for (const bool all : {true, false}) {
    all_others_fail = all;
    for (long site = 0; site < kMostSites; ++site) {
      Outcome outcome;
      // Another thread may have released something meanwhile. A leak comes back each time.
      for (int tries = 0; tries == 0 || (outcome.leaked && tries < 4); ++tries) {
        prepare();
        outcome = fail_once(function, codes, site, call, undo);
      }
      if (outcome.leaked) complain(function, site, outcome.status, "blocks were leaked or lost");
      if (!outcome.reached) break;
      ++sites;
      if (site + 1 == kMostSites) complain(function, site, 0, "there is no end of allocations");
    }
  }
}

inline void nothing() {}

// Runs it until tables have grown, then once more, and expects no more blocks at its end.
template <class Everything>
void twice(const Everything& everything) {
  everything();
  settle_messages();
  const long before = blocks_at_rest();
  is_warm = true;
  everything();
  settle_messages();
  const long left = blocks_at_rest() - before;
  if (left == 0) return;
  std::fprintf(stderr, "%ld blocks are left\n", left);
  failed.fetch_add(1);
}

// What main() returns: prints the functions and the number of sites.
inline int report() {
  for (const std::string& each : functions) std::printf("%s\n", each.c_str());
  std::printf("%ld sites\n", sites);
  return failed.load() == 0 ? 0 : 1;
}

}  // namespace no_memory

// A call that leaves nothing behind, on success either.
#define AT_EVERY_SITE(codes, function, ...) \
  no_memory::at_every_site(                 \
      #function, codes, no_memory::nothing, \
      [&] { return static_cast<int>(function(__VA_ARGS__)); }, no_memory::nothing)
