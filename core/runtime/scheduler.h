// SPDX-License-Identifier: Apache-2.0
// Decides when the work of streams runs, and on which thread.
#pragma once

#include <memory>

#include "runtime/deadline.h"
#include "runtime/queue.h"

namespace softnpu::runtime {

// This one, the eager one, runs operators, copies and fills when they are launched, on the
// launching thread: a CPU has nothing to overlap, and this is fast. Where they had to wait, they
// run on a thread that waits for them, or else on a callback thread, as host functions always do.
//
// Within a queue work runs in order and gates are respected, whatever a scheduler does.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Work was appended to the queue; the ticket is its own.
  virtual void on_submit(Queue& queue, Queue::Ticket ticket);
  // The front of the queue is ready, and nobody runs it: its gate has opened, or its runner left.
  virtual void on_ready(std::shared_ptr<Queue> queue) noexcept;
  // A thread begins to wait for the queue's work up to the ticket.
  virtual void on_wait(Queue&, Queue::Ticket, const Deadline&) {}
  // A thread asks again and again whether the queue's work is done. False when nothing ran.
  virtual bool on_poll(Queue&) { return false; }

  // Whether work runs only once it is allowed, see Queue::allow().
  virtual bool defers() const { return false; }

  // Runs what is ready in the queue, up to the ticket.
  void run(Queue& queue, Queue::Ticket last);

 protected:
  // Whether this thread runs work that launched work, and so on, as deep as its stack allows.
  static bool is_nested_too_deep();
};

// The one that SOFTNPU_SCHEDULE names, once per process: eager, deferred or random[:SEED].
Scheduler& scheduler();

}  // namespace softnpu::runtime
