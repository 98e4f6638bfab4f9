// SPDX-License-Identifier: Apache-2.0
#include "runtime/deferred_scheduler.h"

#include <mutex>
#include <new>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/lasting.h"
#include "base/random.h"
#include "base/tuning.h"
#include "runtime/watchdog.h"

namespace softnpu::runtime {
namespace {

using Dependencies = std::vector<Queue::Dependency>;

// The queue's work up to the ticket and all its dependencies, which come later in the list.
Dependencies with_dependencies(Queue& queue, Queue::Ticket ticket) {
  Dependencies all{{queue.shared_from_this(), ticket}};
  std::unordered_map<const Queue*, Queue::Ticket> listed;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto [each, last] = all[i];
    Queue::Ticket& before = listed[each.get()];
    if (last <= before) continue;
    each->list_dependencies(before, last, all);
    before = last;
  }
  return all;
}

bool allow(const Dependencies& all) {
  bool changed = false;
  for (const auto& [queue, ticket] : all) changed |= queue->allow(ticket);
  for (const auto& [queue, ticket] : std::views::reverse(all)) {
    const Queue::Front front = queue->peek();
    if (front != Queue::Front::blocked && front != Queue::Front::running)
      scheduler().on_ready(queue);
  }
  return changed;
}

// Draws random numbers and queues whose fronts may be ready. The queues are in a vector, so that a
// seed always gives the same order.
class Lottery {
 public:
  void start(uint64_t seed) {
    std::lock_guard lock(mutex_);
    random_ = Random(seed);
    eagerness_ = random_.below(kEnd);
  }

  bool draw_one_more() {
    std::lock_guard lock(mutex_);
    return random_.below(kAlways) < eagerness_;
  }

  // Whether a wait also lets work run that is not a dependency.
  bool draw_others_too() {
    std::lock_guard lock(mutex_);
    return random_.below(4) > 0;
  }

  void add(std::shared_ptr<Queue> queue) noexcept {
    std::lock_guard lock(mutex_);
    try {
      if (queues_.size() == queues_.capacity()) queues_.reserve(2 * queues_.size() + 1);
      if (!listed_.insert(queue.get()).second) return;
      queues_.push_back(std::move(queue));
    } catch (const std::bad_alloc&) {  // the work runs when a thread waits for it
    }
  }

  // A queue whose front is ready, or null. Blocked queues are removed; they are added again when
  // they become ready or get work.
  std::shared_ptr<Queue> draw_queue() {
    std::lock_guard lock(mutex_);
    if (queues_.empty()) return nullptr;
    size_t at = random_.below(queues_.size());
    for (size_t left = queues_.size(); left > 0; --left) {
      if (at >= queues_.size()) at = 0;
      const Queue::Front front = queues_[at]->peek();
      if (front == Queue::Front::blocked)
        remove(at);
      else if (front == Queue::Front::running)
        ++at;
      else
        return queues_[at];
    }
    return nullptr;
  }

 private:
  // Lazy devices find more bugs, so even the most eager one continues only with probability 1/2.
  static constexpr uint64_t kAlways = 16, kEnd = 9;

  void remove(size_t at) {
    listed_.erase(queues_[at].get());
    queues_[at] = std::move(queues_.back());
    queues_.pop_back();
  }

  ProcessMutex<LockRank::outer> mutex_;
  Random random_{0};
  uint64_t eagerness_ = 0;
  std::vector<std::shared_ptr<Queue>> queues_;
  std::unordered_set<const Queue*> listed_;
};

Lottery& lottery() { return lasting<Lottery>; }

}  // namespace

bool allow_with_dependencies(Queue& queue, Queue::Ticket ticket) {
  return allow(with_dependencies(queue, ticket));
}

DeferredScheduler::DeferredScheduler(std::optional<uint64_t> seed) : random_(seed.has_value()) {
  if (seed) lottery().start(*seed);
}

void DeferredScheduler::on_submit(Queue& queue, Queue::Ticket ticket) {
  if (random_) lottery().add(queue.shared_from_this());
  note_activity();
  try {
    if (!start_watchdog()) {
      allow_with_dependencies(queue, ticket);
    } else if (ticket > kMaxBacklog) {
      run_with_dependencies(queue, ticket - kMaxBacklog, deadline_in(kStallTime));
      if (queue.throttle()) run(queue, ticket);
    }
  } catch (const std::bad_alloc&) {  // the work runs when a thread waits for it
  }
  if (random_) run_random_some();
}

void DeferredScheduler::on_ready(std::shared_ptr<Queue> queue) noexcept {
  if (random_) lottery().add(queue);
  if (queue->front_is_allowed()) Scheduler::on_ready(std::move(queue));
}

void DeferredScheduler::on_wait(Queue& queue, Queue::Ticket ticket, const Deadline& deadline) {
  if (random_ && lottery().draw_others_too()) {
    while (!queue.is_done(ticket) && run_random(deadline)) {
    }
  }
  run_with_dependencies(queue, ticket, deadline);
}

bool DeferredScheduler::on_poll(Queue& queue) {
  if (random_) run_random_some();
  note_activity();
  std::shared_ptr<Queue> last = queue.shared_from_this();
  while (auto source = last->blocked_by()) last = std::move(source);
  return run_front(*last, {});
}

void DeferredScheduler::run_with_dependencies(Queue& queue, Queue::Ticket ticket,
                                              const Deadline& deadline) {
  note_activity();
  const auto all = with_dependencies(queue, ticket);
  for (bool progress = true; progress && !queue.is_done(ticket);) {
    progress = false;
    for (const auto& [each, last] : std::views::reverse(all))
      while (!each->is_done(last) && !deadline.has_passed() && run_front(*each, deadline))
        progress = true;
  }
  if (!queue.is_done(ticket)) allow(all);  // the rest depends on other threads
}

bool DeferredScheduler::run_front(Queue& queue, const Deadline& deadline) {
  const Queue::Ticket ticket = queue.allow_front();
  if (ticket == 0) return false;
  {
    const Activity running;
    run(queue, ticket);
  }
  // A callback thread may still be running it.
  if (!queue.is_done(ticket))
    queue.sleep_until_done(ticket, earlier(deadline, deadline_in(kStallTime)));
  note_activity();
  return true;
}

bool DeferredScheduler::run_random(const Deadline& deadline) {
  if (deadline.has_passed()) return false;
  const auto queue = lottery().draw_queue();
  if (queue) run_front(*queue, deadline);  // or another thread runs it
  return queue != nullptr;
}

void DeferredScheduler::run_random_some() {
  while (!is_nested_too_deep() && lottery().draw_one_more() && run_random({})) {
  }
}

}  // namespace softnpu::runtime
