// SPDX-License-Identifier: Apache-2.0
#include "runtime/random_scheduler.h"

#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/lasting.h"
#include "base/random.h"

namespace softnpu::runtime {
namespace {

// The draws, and the queues whose fronts may be ready: in a vector, as the order decides which one
// a draw means.
class Lots {
 public:
  Lots() { keep_free_over_fork(mutex_, LockRank::outer); }

  void start(uint64_t seed) {
    std::lock_guard lock(mutex_);
    random_ = Random(seed);
    eagerness_ = random_.below(kEnd);
  }

  bool goes_on() {
    std::lock_guard lock(mutex_);
    return random_.below(kAlways) < eagerness_;
  }

  // Whether a wait lets other work run than what it needs.
  bool others_too() {
    std::lock_guard lock(mutex_);
    return random_.below(4) > 0;
  }

  void add(std::shared_ptr<Queue> queue) noexcept {
    std::lock_guard lock(mutex_);
    try {
      if (queues_.size() == queues_.capacity()) queues_.reserve(2 * queues_.size() + 1);
      if (!listed_.insert(queue.get()).second) return;
      queues_.push_back(std::move(queue));
    } catch (const std::bad_alloc&) {  // then it runs when a thread waits for it
    }
  }

  // A queue whose front is ready; null when there is none. Others are added again when they are
  // resumed, or get work.
  std::shared_ptr<Queue> draw() {
    std::lock_guard lock(mutex_);
    if (queues_.empty()) return nullptr;
    size_t at = random_.below(queues_.size());
    for (size_t left = queues_.size(); left > 0; --left) {
      if (at >= queues_.size()) at = 0;
      const Queue::Front front = queues_[at]->look();
      if (front == Queue::Front::ready) return queues_[at];
      if (front == Queue::Front::running)
        ++at;
      else
        remove(at);
    }
    return nullptr;
  }

 private:
  // Of so many. Lazy devices show more, so the most eager one goes on about every other time.
  static constexpr uint64_t kAlways = 16, kEnd = 9;

  void remove(size_t at) {
    listed_.erase(queues_[at].get());
    queues_[at] = std::move(queues_.back());
    queues_.pop_back();
  }

  std::mutex mutex_;
  Random random_{0};
  uint64_t eagerness_ = 0;
  std::vector<std::shared_ptr<Queue>> queues_;
  std::unordered_set<const Queue*> listed_;
};

Lots& lots() { return lasting<Lots>; }

}  // namespace

RandomScheduler::RandomScheduler(uint64_t seed) { lots().start(seed); }

void RandomScheduler::submitted(Queue& queue, Queue::Ticket ticket) {
  lots().add(queue.shared_from_this());
  DeferredScheduler::submitted(queue, ticket);
  some_steps();
}

void RandomScheduler::resumed(std::shared_ptr<Queue> queue) noexcept {
  lots().add(queue);
  DeferredScheduler::resumed(std::move(queue));
}

void RandomScheduler::awaited(Queue& queue, Queue::Ticket ticket, const Deadline& deadline) {
  const bool others_too = lots().others_too();
  while (others_too && !queue.reached(ticket) && step_of_any(deadline)) {
  }
  DeferredScheduler::awaited(queue, ticket, deadline);
}

bool RandomScheduler::advance(Queue& queue) {
  some_steps();
  return DeferredScheduler::advance(queue);
}

bool RandomScheduler::step_of_any(const Deadline& deadline) {
  if (deadline.milliseconds > 0 && std::chrono::steady_clock::now() >= deadline.end) return false;
  const auto queue = lots().draw();
  if (queue) step(*queue, deadline);  // or another thread was faster
  return queue != nullptr;
}

void RandomScheduler::some_steps() {
  while (!too_deep() && lots().goes_on() && step_of_any({})) {
  }
}

}  // namespace softnpu::runtime
