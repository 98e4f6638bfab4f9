// SPDX-License-Identifier: Apache-2.0
// Decides when the work of streams runs, and on which thread.
#pragma once

#include <memory>

#include "base/export.h"
#include "runtime/deadline.h"
#include "runtime/queue.h"

namespace softnpu::runtime {

// The base class is the eager scheduler. It runs operators, copies and fills when they are
// launched, on the launching thread, because a CPU has nothing to overlap. Work that had to wait
// runs on a thread that waits for it, or else on a callback thread. Host functions always run on
// callback threads.
//
// Every scheduler keeps the order of a queue and respects gates.
class SOFTNPU_EXPORT Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Work was appended to the queue. The ticket is that of the last piece.
  virtual void on_submit(Queue& queue, Queue::Ticket ticket);
  // The front of the queue is ready and nobody runs it: its gate has opened, or its runner has
  // left.
  virtual void on_ready(std::shared_ptr<Queue> queue) noexcept;
  // A thread begins to wait for the queue's work up to the ticket.
  virtual void on_wait(Queue&, Queue::Ticket, const Deadline&) {}
  // A thread repeatedly queries whether the queue's work is done. Returns false if nothing ran.
  virtual bool on_poll(Queue&) { return false; }

  virtual bool defers() const { return false; }

  // Runs the ready work of the queue up to the ticket.
  void run(Queue& queue, Queue::Ticket last);

 protected:
  // Whether this thread runs nested work as deep as its stack allows.
  static bool is_nested_too_deep();
};

// The scheduler that SOFTNPU_SCHEDULE selects, once per process: eager, deferred or random[:SEED].
SOFTNPU_EXPORT Scheduler& scheduler();

}  // namespace softnpu::runtime
