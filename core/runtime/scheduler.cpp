// SPDX-License-Identifier: Apache-2.0
#include "runtime/scheduler.h"

#include <utility>
#include <vector>

#include "base/lasting.h"

namespace softnpu::runtime {
namespace {

// Queues that work on this thread has released. Its outermost run takes them up when its own work
// is done: taking them up on the spot would nest as deep as streams wait for each other.
thread_local constinit std::vector<std::shared_ptr<Queue>>* released = nullptr;

void run(Queue& queue) {
  if (released != nullptr) return queue.run_ready();
  std::vector<std::shared_ptr<Queue>> list;
  released = &list;
  queue.run_ready();
  while (!list.empty()) {
    const auto next = std::move(list.back());
    list.pop_back();
    next->run_ready();
  }
  released = nullptr;
}

}  // namespace

void ImmediateScheduler::submitted(Queue& queue) { run(queue); }
void ImmediateScheduler::wanted(Queue& queue) { run(queue); }

void ImmediateScheduler::resumed(std::shared_ptr<Queue> queue) {
  if (released == nullptr) return run(*queue);
  // A thread that waits for the queue need not wait for this thread's turn to come.
  queue->wake_waiters();
  released->push_back(std::move(queue));
}

Scheduler& scheduler() { return lasting<ImmediateScheduler>; }

}  // namespace softnpu::runtime
