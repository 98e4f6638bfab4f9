// SPDX-License-Identifier: Apache-2.0
// The pieces of one job: a static partition with work stealing. Each worker starts with its own
// share, the same part of the range in every job, so that its data is in its core's cache.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/float_state.h"
#include "base/tuning.h"
#include "loops/processors.h"
#include "loops/threads.h"

namespace softnpu::loops {

constexpr int kMostThreads = 1024;

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A job without its workers.
struct Job {
  RangeBody body;  // the caller's
  int64_t count;
  int pieces;
  int64_t step;  // 0: forward; otherwise elements of a step, from the end to the beginning
  int left = 0;  // the last pieces of a share, reserved for its owner once it has started

  // The begin of a piece. Larger pieces are spread evenly over the shares.
  int64_t begin(int64_t piece) const {
    return count / pieces * piece + count % pieces * piece / pieces;
  }

  // Calls the body for [begin, end).
  void run(int64_t begin, int64_t end, int worker) const {
    if (step == 0) return body.call(body.object, begin, end, worker);
    for (int64_t at = end, from; at > begin; at = from) {
      from = at - begin > step ? at - step : begin;
      body.call(body.object, from, at, worker);
    }
  }
};

class Shares {
 public:
  // Publishes job number `number`. The job before must be over.
  void deal(uint32_t number, const Job& job, int workers) {
    object_.store(job.body.object, std::memory_order_relaxed);
    call_.store(job.body.call, std::memory_order_relaxed);
    count_.store(job.count, std::memory_order_relaxed);
    step_.store(job.step, std::memory_order_relaxed);
    left_.store(job.left, std::memory_order_relaxed);
    pieces_.store(job.pieces, std::memory_order_relaxed);
    workers_.store(workers, std::memory_order_relaxed);
    number_.store(number, std::memory_order_relaxed);
    processor_.store(sched_getcpu(), std::memory_order_relaxed);
    const bool few = job.pieces <= workers;  // a short job
    began_.store(few ? Clock::time_point() : Clock::now(), std::memory_order_relaxed);
    for (int w = 0; w < workers; ++w) {
      const auto first = static_cast<uint64_t>(first_piece(job.pieces, workers, w));
      const auto end = static_cast<uint64_t>(first_piece(job.pieces, workers, w + 1));
      shares_[w].word.store(uint64_t{number} << 32 | first << 16 | end, std::memory_order_release);
    }
  }

  // Works on a job until all its pieces are claimed. Returns how many this worker did.
  int work_on(uint32_t number, int worker) { return work(number, worker, false); }

  // Works on the current job, for workers that a barrier joins afterwards.
  void work_on_dealt(int worker) { work(number_.load(std::memory_order_relaxed), worker, true); }

  // For our own threads, which no barrier joins: each worker adds the number of its pieces once,
  // because additions to a shared counter are slow. wait() returns when all pieces are counted.
  void expect() { done_.store(0, std::memory_order_relaxed); }
  void count(int ran) {
    if (ran > 0) done_.fetch_add(ran, std::memory_order_release);
  }
  void wait() const {
    const int pieces = pieces_.load(std::memory_order_relaxed);
    for (int i = 0; done_.load(std::memory_order_acquire) != pieces; ++i)
      i < kSpins ? pause_briefly() : std::this_thread::yield();
  }

 private:
  using Clock = std::chrono::steady_clock;

  int work(uint32_t number, int worker, bool joined) {
    const int workers = workers_.load(std::memory_order_relaxed);
    int ran = 0;
    if (worker >= workers) return ran;
    note_thread(worker);
    const DefaultFloats floats;
    // In a large team, only the dealer helps others with a short job that ends with a barrier: for
    // the other workers, looking for work takes longer than doing it.
    const bool helps = worker == 0 || workers <= kSmallTeam || !joined ||
                       pieces_.load(std::memory_order_relaxed) > workers;
    const int theirs = left_.load(std::memory_order_relaxed);
    for (int i = 0; i < (helps ? workers : 1); ++i) {
      const int owner = (worker + i) % workers;
      // A share that nobody has started may have no owner.
      const int left = i == 0 || theirs == 0 || is_untouched(owner, workers) ? 0 : theirs;
      for (int piece; (piece = claim(shares_[owner], number, left)) >= 0; ++ran) {
        if (worker != 0 && ran == 0 && is_on_dealers_processor()) make_way_for(0, workers);
        if (i != 0 && is_first(piece, owner, workers) && (joined || is_long()))
          make_way_for(owner, workers);
        run(piece, owner, workers, worker);
        if (worker == 0 && ran == 0 && workers > 1 && is_long() && is_untouched(1, workers))
          make_way_for(1, workers);
      }
    }
    return ran;
  }

  // The job's number, the next unclaimed piece and the end of the share in one word, so that a
  // worker that wakes late cannot claim a piece of another job.
  struct alignas(64) Share {
    std::atomic<uint64_t> word{0};
  };

  static int64_t first_piece(int pieces, int workers, int worker) {
    return int64_t{pieces} * worker / workers;
  }

  void note_thread(int worker) {
    const pid_t thread = this_thread();
    std::atomic<pid_t>& last = threads_[worker];
    // Without a store, the cache line stays shared.
    if (last.load(std::memory_order_relaxed) != thread)
      last.store(thread, std::memory_order_relaxed);
  }

  // Whether worker 0, which dealt the job, may be waiting for this thread's processor.
  bool is_on_dealers_processor() const {
    return sched_getcpu() == processor_.load(std::memory_order_relaxed);
  }
  // Whether the job takes so long that it pays to start workers that have not started yet.
  bool is_long() const {
    const auto began = began_.load(std::memory_order_relaxed);
    return began != Clock::time_point() && Clock::now() - began > kLongJob;
  }
  bool is_untouched(int owner, int workers) const {
    const uint64_t word = shares_[owner].word.load(std::memory_order_relaxed);
    const auto next = static_cast<int>(word >> 16 & 0xFFFF), end = static_cast<int>(word & 0xFFFF);
    return next < end && is_first(next, owner, workers);
  }
  // Migrates this thread if that worker may be waiting for its processor (processors.h).
  void make_way_for(int worker, int workers) const {
    const pid_t thread = threads_[worker].load(std::memory_order_relaxed);
    if (thread != 0) step_aside_for(thread, workers);
  }

  // Whether the piece is the first one of the owner's share.
  bool is_first(int piece, int owner, int workers) const {
    return piece == first_piece(pieces_.load(std::memory_order_relaxed), workers, owner);
  }

  // Claims the next piece of a share, except the last `left` ones; -1 if there is none.
  static int claim(Share& share, uint32_t number, int left) {
    uint64_t word = share.word.load(std::memory_order_acquire);
    for (;;) {
      const auto next = static_cast<int>(word >> 16 & 0xFFFF),
                 end = static_cast<int>(word & 0xFFFF);
      if (word >> 32 != number || next + left >= end) return -1;
      if (share.word.compare_exchange_weak(word, word + 0x10000, std::memory_order_acq_rel))
        return next;
    }
  }

  // Runs a piece, or, backwards, the piece that mirrors it in its owner's share.
  void run(int64_t piece, int owner, int workers, int worker) const {
    const Job job{{object_.load(std::memory_order_relaxed), call_.load(std::memory_order_relaxed)},
                  count_.load(std::memory_order_relaxed),
                  pieces_.load(std::memory_order_relaxed),
                  step_.load(std::memory_order_relaxed)};
    if (job.step != 0)
      piece = first_piece(job.pieces, workers, owner) +
              first_piece(job.pieces, workers, owner + 1) - 1 - piece;
    job.run(job.begin(piece), job.begin(piece + 1), worker);
  }

  // All that a worker reads of a job is in one cache line.
  alignas(64) std::atomic<void*> object_{nullptr};
  std::atomic<decltype(RangeBody::call)> call_{nullptr};
  std::atomic<int64_t> count_{0}, step_{0};
  std::atomic<int> pieces_{0}, left_{0};
  std::atomic<int> workers_{0};
  std::atomic<uint32_t> number_{0};
  std::atomic<int> processor_{-1};          // of the dealer
  std::atomic<Clock::time_point> began_{};  // of jobs that may take long
  alignas(64) std::atomic<int> done_{0};
  Share shares_[kMostThreads];
  std::atomic<pid_t> threads_[kMostThreads] = {};  // the last thread of each worker
};

}  // namespace softnpu::loops
