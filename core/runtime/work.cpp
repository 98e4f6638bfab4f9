// SPDX-License-Identifier: Apache-2.0
#include "runtime/work.h"

#include <pthread.h>

#include <mutex>

#include "base/fork.h"
#include "base/lasting.h"
#include "runtime/queue.h"
#include "runtime/scheduler.h"

namespace softnpu::runtime {
namespace {

// One lock for all gates, which is free after a fork(). It is only held briefly.
struct GatesMutex : ProcessMutex<LockRank::innermost> {};
GatesMutex& gates_mutex() { return lasting<GatesMutex>; }

}  // namespace

void Gate::open() noexcept {
  std::vector<std::weak_ptr<Queue>> waiting;
  {
    std::lock_guard lock(gates_mutex());
    open_.store(true, std::memory_order_release);
    waiting.swap(waiting_);  // no more can enlist
  }
  // Without the lock: the queues may run work immediately, which may use this gate.
  for (const auto& weak : waiting) {
    if (auto queue = weak.lock()) scheduler().on_ready(std::move(queue));
  }
}

void Gate::reserve_waiter() {
  if (is_open()) return;
  std::lock_guard lock(gates_mutex());
  if (waiting_.capacity() <= reserved_) waiting_.reserve(2 * reserved_ + 1);
  ++reserved_;
}

bool Gate::pass_or_enlist(const std::weak_ptr<Queue>& queue) noexcept {
  if (is_open()) return true;
  std::lock_guard lock(gates_mutex());
  if (is_open()) return true;
  waiting_.push_back(queue);
  return false;
}

bool Gate::lost_its_opener() const {
  return !is_open() && opener_.load(std::memory_order_relaxed) != 0 && !is_opened_by_this_thread();
}

bool Gate::is_opened_by_this_thread() const {
  return opener_.load(std::memory_order_relaxed) == static_cast<uint64_t>(pthread_self());
}

}  // namespace softnpu::runtime
