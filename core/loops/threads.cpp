// SPDX-License-Identifier: Apache-2.0
#include "loops/threads.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

namespace softnpu::loops {
namespace {

constexpr int kMostThreads = 1024;
// A waiting worker looks for work this many times before it sleeps: kernels that follow each other
// within some 20 microseconds need no wake-up call, which costs about as much as a small kernel.
constexpr int kSpins = 2000;

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int default_threads() {
  if (const char* wish = std::getenv("SOFTNPU_THREADS")) {
    int count = 0;
    const char* end = wish + std::strlen(wish);
    const auto parsed = std::from_chars(wish, end, count);
    if (parsed.ec == std::errc() && parsed.ptr == end && count >= 1 && count <= kMostThreads)
      return count;
  }
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

std::atomic<int>& wanted_threads() {
  static std::atomic<int> count{default_threads()};
  return count;
}

// One job at a time. `ticket_` packs the job's number (high 32 bits) with the next unclaimed piece
// (low 32), so that a worker that wakes late cannot claim a piece of a job that is over.
class Pool {
 public:
  // False when another thread's job is running.
  bool try_run(int64_t count, int pieces, int workers, RangeBody body) {
    std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    start_workers(workers - 1);
    body_.store(&body, std::memory_order_relaxed);
    count_.store(count, std::memory_order_relaxed);
    pieces_.store(pieces, std::memory_order_relaxed);
    workers_.store(workers, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    const uint64_t job = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
    ticket_.store(job << 32, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) ticket_.notify_all();
    work_on(job, 0);
    while (done_.load(std::memory_order_acquire) != pieces) pause_briefly();
    return true;
  }

 private:
  // Starts no more than it can get: fewer threads make a kernel slower, not wrong.
  void start_workers(int wanted) {
    while (started_ < wanted) {
      try {
        std::thread(&Pool::serve, this, started_ + 1).detach();
      } catch (const std::system_error&) {
        return;
      }
      ++started_;
    }
  }

  void serve(int worker) {
    uint64_t seen = 0;
    for (;;) {
      uint64_t ticket = ticket_.load(std::memory_order_acquire);
      for (int i = 0; i < kSpins && ticket >> 32 == seen; ++i) {
        pause_briefly();
        ticket = ticket_.load(std::memory_order_acquire);
      }
      if (ticket >> 32 == seen) {
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        ticket = ticket_.load(std::memory_order_seq_cst);
        // Pieces being claimed change the ticket too, so a sleeper may wake without a new job.
        if (ticket >> 32 == seen) ticket_.wait(ticket, std::memory_order_seq_cst);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
        continue;
      }
      seen = ticket >> 32;
      if (worker < workers_.load(std::memory_order_relaxed)) work_on(seen, worker);
    }
  }

  void work_on(uint64_t job, int worker) {
    uint64_t ticket = ticket_.load(std::memory_order_acquire);
    for (;;) {
      const int pieces = pieces_.load(std::memory_order_relaxed);
      const auto piece = static_cast<int>(ticket & 0xFFFFFFFFu);
      if (ticket >> 32 != job || piece >= pieces) return;
      if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
      const int64_t count = count_.load(std::memory_order_relaxed);
      const int64_t each = count / pieces, rest = count % pieces;
      const int64_t begin = each * piece + std::min<int64_t>(piece, rest);
      (*body_.load(std::memory_order_relaxed))(begin, begin + each + (piece < rest), worker);
      done_.fetch_add(1, std::memory_order_release);
      ticket = ticket_.load(std::memory_order_acquire);
    }
  }

  std::mutex owner_;
  int started_ = 0;  // guarded by owner_
  std::atomic<const RangeBody*> body_{nullptr};
  std::atomic<int64_t> count_{0};
  std::atomic<int> pieces_{0};
  std::atomic<int> workers_{0};
  alignas(64) std::atomic<uint64_t> ticket_{0};
  alignas(64) std::atomic<int> done_{0};
  std::atomic<int> sleepers_{0};
};

// Never destroyed: workers are detached and may outlive static destructors. After fork() the child
// has no workers, so it gets a pool of its own.
std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
  Pool* current = the_pool.load(std::memory_order_acquire);
  if (current != nullptr) return *current;
  static std::once_flag fork_handler;
  std::call_once(fork_handler,
                 [] { pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr); }); });
  auto fresh = std::make_unique<Pool>();
  if (the_pool.compare_exchange_strong(current, fresh.get())) return *fresh.release();
  return *current;
}

}  // namespace

int thread_count() { return wanted_threads().load(std::memory_order_relaxed); }
void set_thread_count(int count) { wanted_threads() = std::clamp(count, 1, kMostThreads); }

void parallel_for(int64_t count, int64_t grain, int workers, RangeBody body) {
  if (count <= 0) return;
  const int64_t most = (count + grain - 1) / std::max<int64_t>(grain, 1);
  // A few pieces for each thread, so that one that is held up does not hold up the rest.
  const auto pieces = static_cast<int>(std::min<int64_t>(most, int64_t{4} * workers));
  if (pieces > 1 && workers > 1 && pool().try_run(count, pieces, workers, body)) return;
  body(0, count, 0);
}

}  // namespace softnpu::loops
