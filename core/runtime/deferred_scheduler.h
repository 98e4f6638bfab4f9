// SPDX-License-Identifier: Apache-2.0
// Defers work until a thread waits for it, which exposes missing synchronisation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/scheduler.h"

namespace softnpu::runtime {

// Allows the work that a thread waits for and its dependencies, piece by piece, in a fixed order. A
// queue defers a limited number of pieces for a limited time: see watchdog.h.
//
// With a seed, each call that launches, queries or waits may let more pieces of any queue run, in
// an order that streams and events allow. The number and the choice of pieces are random; the
// average number is drawn once.
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
  // Runs the piece at the queue's front, if it is ready, and waits for it, but not for long,
  // because a host function may wait for anything. Returns false if it is not ready.
  bool run_front(Queue& queue, const Deadline& deadline);
  // The same for a random queue.
  bool run_random(const Deadline& deadline);
  void run_random_some();

  const bool random_;
};

// Allows the queue's work up to the ticket and its dependencies, and runs it on waiting threads or
// callback threads. Returns false if all of it was allowed before.
bool allow_with_dependencies(Queue& queue, Queue::Ticket ticket);

}  // namespace softnpu::runtime
