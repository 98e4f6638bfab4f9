// SPDX-License-Identifier: Apache-2.0
// Decides when the work of streams runs, and on which thread.
#pragma once

#include <memory>

#include "runtime/deadline.h"
#include "runtime/queue.h"

namespace softnpu::runtime {

// Within a queue work runs in order and gates are respected whatever a scheduler does; the rest is
// its choice.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Work was appended to the queue; the ticket is its own.
  virtual void submitted(Queue& queue, Queue::Ticket ticket) = 0;
  // Nobody runs the queue, whose work is ready: its gate has opened, or whoever ran it left it.
  virtual void resumed(std::shared_ptr<Queue> queue) noexcept = 0;
  // A thread is about to wait for the queue's work up to the ticket: what is ready must run.
  virtual void wanted(Queue& queue, Queue::Ticket ticket) = 0;

  // Whether work runs only once it is permitted, see Queue::permit().
  virtual bool holds_back() const { return false; }
  // A thread begins to wait for the queue's work up to the ticket, which must be permitted.
  virtual void awaited(Queue&, Queue::Ticket, const Deadline&) {}
  // A thread can do nothing but look again until the queue goes on. False when nothing ran.
  virtual bool advance(Queue&) { return false; }
};

// Runs operators, copies and fills when they are launched, on the launching thread: a CPU has
// nothing to overlap, and this is fast. Where they had to wait, they run on a thread that waits for
// them, or else on one of the library's own. Host functions always run on one of those.
class ImmediateScheduler : public Scheduler {
 public:
  void submitted(Queue& queue, Queue::Ticket ticket) override;
  void resumed(std::shared_ptr<Queue> queue) noexcept override;
  void wanted(Queue& queue, Queue::Ticket ticket) override;

 protected:
  // Whether this thread runs work that launched work, and so on, as deep as its stack allows.
  static bool too_deep();
};

// The one that SOFTNPU_SCHEDULE names, once per process: eager, deferred or random[:SEED].
Scheduler& scheduler();

}  // namespace softnpu::runtime
