// SPDX-License-Identifier: Apache-2.0
// Runs nothing until a thread waits for it, so that a synchronisation that a program forgot shows.
#pragma once

#include <memory>

#include "runtime/scheduler.h"

namespace softnpu::runtime {

// Permits what a thread waits for, and what that depends on, piece by piece in an order that is the
// same each time. Only a limited number of pieces is held back in a queue, and not for ever: see
// patience.h.
class DeferredScheduler : public ImmediateScheduler {
 public:
  bool holds_back() const override { return true; }
  void submitted(Queue& queue, Queue::Ticket ticket) override;
  void resumed(std::shared_ptr<Queue> queue) noexcept override;
  void awaited(Queue& queue, Queue::Ticket ticket, const Deadline& deadline) override;
  bool advance(Queue& queue) override;

 protected:
  // Has the piece at the queue's front run, if it is ready, and waits for it, but not for long: a
  // host function may wait for anything. False when it is not ready.
  bool step(Queue& queue, const Deadline& deadline);
};

// Has everything run that the queue's work up to the ticket depends on, and that work, on threads
// that wait for it or on the library's own. False when it was permitted before.
bool permit_all(Queue& queue, Queue::Ticket ticket);

}  // namespace softnpu::runtime
