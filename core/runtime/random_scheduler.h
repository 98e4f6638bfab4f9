// SPDX-License-Identifier: Apache-2.0
// Runs the work of all streams in some order that streams and events allow. A seed gives the order.
#pragma once

#include <memory>

#include "runtime/deferred_scheduler.h"

namespace softnpu::runtime {

// Each call that launches, asks or waits may let some pieces run, of any queues. How many, and
// which, is drawn; how lazy it is on the whole is drawn once.
class RandomScheduler final : public DeferredScheduler {
 public:
  explicit RandomScheduler(uint64_t seed);

  void submitted(Queue& queue, Queue::Ticket ticket) override;
  void resumed(std::shared_ptr<Queue> queue) noexcept override;
  void awaited(Queue& queue, Queue::Ticket ticket, const Deadline& deadline) override;
  bool advance(Queue& queue) override;

 private:
  bool step_of_any(const Deadline& deadline);
  void some_steps();
};

}  // namespace softnpu::runtime
