// SPDX-License-Identifier: Apache-2.0
#include "runtime/scheduler.h"

#include "base/tuning.h"
#include "runtime/crew.h"

namespace softnpu::runtime {
namespace {

// Of work that launches work.
thread_local constinit int depth = 0;

Queue::Left run(Queue& queue, Queue::Ticket last) {
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } const level;
  return queue.run_ready(last);
}

// What is left must not stay: nobody else looks after it.
void pass_on(Queue& queue, Queue::Left left) {
  if (left == Queue::Left::ready || left == Queue::Left::hosted)
    scheduler().resumed(queue.shared_from_this());
}

}  // namespace

bool ImmediateScheduler::too_deep() { return depth >= kDeepest; }

void ImmediateScheduler::submitted(Queue& queue, Queue::Ticket ticket) {
  if (too_deep()) return resumed(queue.shared_from_this());
  Queue::Left left;
  do {
    left = run(queue, ticket);
  } while (left == Queue::Left::to_its_runner && queue.wait_for_turn());
  pass_on(queue, left);
}

void ImmediateScheduler::wanted(Queue& queue, Queue::Ticket ticket) {
  pass_on(queue, run(queue, ticket));
}

void ImmediateScheduler::resumed(std::shared_ptr<Queue> queue) noexcept {
  const bool hosted = queue->claim_for_crew();
  if (!hosted && queue->wake_waiters()) return;
  if (crew_takes_up(queue) || too_deep()) return;
  queue->run_ready(Queue::kAll, true);  // there is no other thread
}

}  // namespace softnpu::runtime
