// SPDX-License-Identifier: Apache-2.0
#include "runtime/work.h"

#include <pthread.h>

#include "runtime/queue.h"
#include "runtime/scheduler.h"

namespace softnpu::runtime {

void Gate::open() noexcept {
  std::vector<std::weak_ptr<Queue>> waiting;
  {
    std::lock_guard lock(mutex_);
    open_.store(true, std::memory_order_release);
    waiting.swap(waiting_);
  }
  // Outside the lock: the queues may run work here and now, which may come back to this gate.
  for (const auto& weak : waiting) {
    auto queue = weak.lock();
    if (!queue) continue;
    try {
      scheduler().resumed(std::move(queue));
    } catch (...) {  // no memory for its next wait; a thread that waits for it tries again
    }
  }
}

bool Gate::pass_or_enlist(const std::weak_ptr<Queue>& queue) {
  if (is_open()) return true;
  std::lock_guard lock(mutex_);
  if (is_open()) return true;
  waiting_.push_back(queue);
  return false;
}

bool Gate::is_opened_by_this_thread() const {
  return opener_.load(std::memory_order_relaxed) == static_cast<uint64_t>(pthread_self());
}

}  // namespace softnpu::runtime
