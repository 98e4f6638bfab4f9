// SPDX-License-Identifier: Apache-2.0
#include "runtime/scheduler.h"

#include <utility>

#include "base/lasting.h"
#include "runtime/crew.h"

namespace softnpu::runtime {
namespace {

// Work that launches work, which launches work: from this depth on another thread takes it up.
constexpr int kDeepest = 100;
thread_local constinit int depth = 0;

Queue::Left run(Queue& queue, Queue::Ticket last) {
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } const level;
  return queue.run_ready(last);
}

}  // namespace

void ImmediateScheduler::submitted(Queue& queue, Queue::Ticket ticket) {
  if (depth >= kDeepest) return resumed(queue.shared_from_this());
  Queue::Left left;
  do {
    left = run(queue, ticket);
  } while (left == Queue::Left::to_its_runner && queue.wait_for_turn());
  if (left == Queue::Left::ready) resumed(queue.shared_from_this());
}

void ImmediateScheduler::wanted(Queue& queue, Queue::Ticket ticket) {
  if (run(queue, ticket) == Queue::Left::ready) resumed(queue.shared_from_this());
}

void ImmediateScheduler::resumed(std::shared_ptr<Queue> queue) noexcept {
  if (queue->wake_waiters() || crew_takes_up(queue) || depth >= kDeepest) return;
  run(*queue, Queue::kAll);  // there is no other thread
}

Scheduler& scheduler() { return lasting<ImmediateScheduler>; }

}  // namespace softnpu::runtime
