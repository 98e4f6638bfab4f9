// SPDX-License-Identifier: Apache-2.0
// Runs nothing until a thread waits for it, so that a missing synchronization shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/scheduler.h"

namespace softnpu::runtime {

// Allows what a thread waits for, and its dependencies, piece by piece in an order that is the same
// each time. A queue defers a limited number of pieces, and not for ever: see watchdog.h.
//
// With a seed, each call that launches, asks or waits may let some more pieces run, of any queues:
// an order that streams and events allow. How many, and which, is drawn; how many on average is
// drawn once.
class DeferredScheduler final : public Scheduler {
 public:
  explicit DeferredScheduler(std::optional<uint64_t> seed = std::nullopt);

  bool defers() const override { return true; }
  void on_submit(Queue& queue, Queue::Ticket ticket) override;
  void on_ready(std::shared_ptr<Queue> queue) noexcept override;
  void on_wait(Queue& queue, Queue::Ticket ticket, const Deadline& deadline) override;
  bool on_poll(Queue& queue) override;

 private:
  void run_with_dependencies(Queue& queue, Queue::Ticket ticket, const Deadline& deadline);
  // Has the piece at the queue's front run, if it is ready, and waits for it, but not for long: a
  // host function may wait for anything. False when it is not ready.
  bool run_front(Queue& queue, const Deadline& deadline);
  // The same for a random queue.
  bool run_random(const Deadline& deadline);
  void run_random_some();

  const bool random_;
};

// Allows the queue's work up to the ticket and its dependencies, and has them run, on threads that
// wait for them or on callback threads. False when all was allowed before.
bool allow_with_dependencies(Queue& queue, Queue::Ticket ticket);

}  // namespace softnpu::runtime
