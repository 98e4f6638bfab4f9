// SPDX-License-Identifier: Apache-2.0
#include "runtime/watchdog.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "base/detached_thread.h"
#include "base/fork.h"
#include "base/lasting.h"
#include "base/lines.h"
#include "base/text.h"
#include "base/tuning.h"
#include "runtime/deferred_scheduler.h"
#include "runtime/stream.h"

namespace softnpu::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kChecks = 4;           // in kStallTime
constexpr unsigned kLongStall = 40;  // checks after which a stalled queue is run

struct LastActivity {
  std::atomic<Clock::rep> latest{0};
  std::atomic<int> running{0};
};
LastActivity& last_activity() { return lasting<LastActivity>; }

bool is_inactive() {
  const Clock::time_point latest{
      Clock::duration(last_activity().latest.load(std::memory_order_relaxed))};
  return last_activity().running.load(std::memory_order_relaxed) == 0 &&
         Clock::now() - latest >= kStallTime;
}

void warn_once() {
  static constinit std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  print_to_stderr(
      text("softnpu: SOFTNPU_SCHEDULE: queued work that no call waited for runs, because nothing "
           "else happened for ",
           kStallTime.count(), " ms\n"));
}

void allow_all(Queue& queue) {
  const Queue::Ticket last = queue.appended();
  if (queue.is_done(last)) return;
  if (allow_with_dependencies(queue, last)) warn_once();
}

class Watchdog {
 public:
  bool started() const { return started_; }

 private:
  [[noreturn]] void watch() {
    for (unsigned checks = 1;; ++checks) {
      std::this_thread::sleep_for(kStallTime / kChecks);
      const bool all = is_inactive(), some = checks % kLongStall == 0;
      if (!all && !some) continue;
      try {
        for (const auto& stream : all_streams())
          if (all || stream->is_stalled()) allow_all(*stream);
      } catch (const std::exception&) {  // std::bad_alloc: tries again at the next check
      }
    }
  }

  bool started_ = start_detached<&Watchdog::watch>(this);
};

}  // namespace

void note_activity() {
  last_activity().latest.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

Activity::Activity() { last_activity().running.fetch_add(1, std::memory_order_relaxed); }

Activity::~Activity() {
  note_activity();
  last_activity().running.fetch_sub(1, std::memory_order_relaxed);
}

bool start_watchdog() { return of_this_process<Watchdog>().started(); }

}  // namespace softnpu::runtime
