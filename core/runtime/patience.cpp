// SPDX-License-Identifier: Apache-2.0
#include "runtime/patience.h"

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
#include "runtime/scheduler.h"
#include "runtime/stream.h"

namespace softnpu::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLooks = 4;               // at the time, while patience lasts
constexpr unsigned kLongPatience = 40;  // looks until a queue's front may not stand still any more

struct Noted {
  std::atomic<Clock::rep> latest{0};
  std::atomic<int> lasting_ones{0};
};
Noted& noted() { return lasting<Noted>; }

bool nothing_happens() {
  const Clock::time_point latest{Clock::duration(noted().latest.load(std::memory_order_relaxed))};
  return noted().lasting_ones.load(std::memory_order_relaxed) == 0 &&
         Clock::now() - latest >= kPatience;
}

void say_once() {
  static constinit std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  say(
      text("softnpu: SOFTNPU_SCHEDULE: queued work that no call waited for runs, because nothing "
           "else happened for ",
           kPatience.count(), " ms\n"));
}

void give_in(Queue& queue) {
  const Queue::Ticket last = queue.appended();
  if (queue.reached(last)) return;
  if (permit_all(queue, last)) say_once();
}

class Watch {
 public:
  bool started() const { return started_; }

 private:
  [[noreturn]] void look() {
    for (unsigned looks = 1;; ++looks) {
      std::this_thread::sleep_for(kPatience / kLooks);
      const bool all = nothing_happens(), some = looks % kLongPatience == 0;
      if (!all && !some) continue;
      try {
        for (const auto& stream : all_streams())
          if (all || stream->stands_still()) give_in(*stream);
      } catch (const std::exception&) {  // std::bad_alloc: there may be memory next time
      }
    }
  }

  bool started_ = start_detached<&Watch::look>(this);
};

}  // namespace

void note_activity() {
  noted().latest.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

Activity::Activity() { noted().lasting_ones.fetch_add(1, std::memory_order_relaxed); }

Activity::~Activity() {
  note_activity();
  noted().lasting_ones.fetch_sub(1, std::memory_order_relaxed);
}

bool watch_patiently() { return of_this_process<Watch>().started(); }

}  // namespace softnpu::runtime
