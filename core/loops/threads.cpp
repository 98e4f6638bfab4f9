// SPDX-License-Identifier: Apache-2.0
#include "loops/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/detached_thread.h"
#include "base/environment.h"
#include "base/fork.h"
#include "base/lasting.h"
#include "loops/openmp.h"
#include "loops/shares.h"

namespace softnpu::loops {
namespace {

// The processors that the process may use, or those of the machine if they do not fit a cpu_set_t.
int processors() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::atomic<int> default_threads() {
  const auto wish = number_setting("SOFTNPU_THREADS", 1, kMostThreads);
  return wish ? *wish : std::clamp(processors(), 1, kMostThreads);
}

std::atomic<int>& wanted_threads() { return made_once<default_threads>(); }

// Never more threads than OpenMP's setting. Asking for fewer than before would end the other
// threads.
int team_of(const OpenMp& openmp, int workers) { return std::min(workers, openmp.most_threads()); }

// Four pieces for each thread, so that one delayed thread does not delay the job, or one if pieces
// would be shorter than `grain`. A larger team, which takes longer to wake, needs a job of three
// grains; its pieces may be a quarter of a grain, so that all threads have work.
int pieces_for(int64_t count, int64_t grain, int workers) {
  if (workers <= 1) return 1;
  const int64_t most = count / grain, few = kPiecesPerThread * workers;
  if (most > few) return static_cast<int>(few);
  if (workers <= kSmallTeam) return static_cast<int>(std::min<int64_t>(most, workers));
  if (most <= 2) return 1;
  return static_cast<int>(
      std::min<int64_t>(count / std::max<int64_t>(grain / kGrainParts, 1), workers));
}

// Runs one job at a time, on our own threads or on those of an OpenMP runtime.
class Pool {
 public:
  // Returns false if another thread's job is running, if OpenMP is set to one thread, or if the job
  // is too short.
  bool try_run(Job job, int64_t grain, int workers, Order order) {
    std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    const uint32_t number = number_.load(std::memory_order_relaxed) + 1;
    const OpenMp* const openmp = borrowed_openmp();
    const int team = openmp == nullptr ? workers : team_of(*openmp, workers);
    job.pieces = pieces_for(job.count, grain, team);
    if (job.pieces <= 1) return false;
    // In a team of two, the last piece of a share is still in its owner's cache.
    job.left = order == Order::turning && job.pieces > team && team <= kSmallTeam ? 1 : 0;
    if (openmp == nullptr)
      run_on_own_threads(number, job, team);
    else
      run_on(*openmp, number, job, team);
    return true;
  }

 private:
  // The team reads only the cache line that deal() wrote, because each further one slows down small
  // jobs.
  void run_on(const OpenMp& openmp, uint32_t number, const Job& job, int team) {
    static const auto thread_number = openmp.thread_number;
    shares_.deal(number, job, team);
    openmp.parallel(
        [](void* shares) { static_cast<Shares*>(shares)->work_on_dealt(thread_number()); },
        &shares_, static_cast<unsigned>(team), 0);
    number_.store(number,
                  std::memory_order_relaxed);  // our own threads find nothing left of this job
  }

  void run_on_own_threads(uint32_t number, const Job& job, int workers) {
    start_workers(workers - 1);
    shares_.expect();
    shares_.deal(number, job, workers);
    number_.store(number, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) number_.notify_all();
    shares_.count(shares_.work_on(number, 0));
    shares_.wait();
  }

  // Starts as many threads as possible: with fewer, a kernel is slower, not wrong.
  void start_workers(int wanted) {
    while (started_ < wanted && start_detached<&Pool::serve>(this)) ++started_;
  }

  [[noreturn]] void serve() {
    const int worker = entered_.fetch_add(1, std::memory_order_relaxed) + 1;
    uint32_t seen = 0;
    for (;;) {
      uint32_t number = number_.load(std::memory_order_acquire);
      for (int i = 0; i < kSpins && number == seen; ++i) {
        pause_briefly();
        number = number_.load(std::memory_order_acquire);
      }
      if (number == seen) {
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        number_.wait(seen, std::memory_order_seq_cst);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
        continue;
      }
      seen = number;
      shares_.count(shares_.work_on(number, worker));
    }
  }

  std::mutex owner_;
  int started_ = 0;              // guarded by owner_
  std::atomic<int> entered_{0};  // each worker takes the next number
  Shares shares_;
  alignas(64) std::atomic<uint32_t> number_{0};  // of the last job
  std::atomic<int> sleepers_{0};
};

// A forked child has no OpenMP team, which others may have used before. So the handlers are
// registered at once, not at the first job.
void begin_anew() {
  forget_lost_team();
  forget_this_thread();
}
[[gnu::constructor]] void expect_forks() { pthread_atfork(end_openmp_team, nullptr, begin_anew); }

}  // namespace

int thread_count() { return wanted_threads().load(std::memory_order_relaxed); }
int usable_threads() {
  const OpenMp* const openmp = borrowed_openmp();
  return openmp == nullptr ? thread_count() : team_of(*openmp, thread_count());
}
void set_thread_count(int count) { wanted_threads() = std::clamp(count, 1, kMostThreads); }

void parallel_for(int64_t count, int64_t grain, int workers, RangeBody body, Order order) {
  if (count <= 0) return;
  static std::atomic<unsigned> turns{0};
  grain = std::max<int64_t>(grain, 1);
  const bool backwards =
      order == Order::turning && turns.fetch_add(1, std::memory_order_relaxed) % 2 != 0;
  const Job job{body, count, 1, backwards ? grain : 0};
  const bool several = count / grain > 1 && workers > 1;
  if (several && of_this_process<Pool>().try_run(job, grain, workers, order)) return;
  job.run(0, count, 0);
}

}  // namespace softnpu::loops
