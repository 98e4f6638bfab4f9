// SPDX-License-Identifier: Apache-2.0
// Decides when the work of streams runs.
#pragma once

#include <memory>

#include "runtime/queue.h"

namespace softnpu::runtime {

// Within a queue work runs in order and gates are respected whatever a scheduler does; the rest is
// its choice.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Work was appended to the queue.
  virtual void submitted(Queue& queue) = 0;
  // The gate that held the queue back has opened.
  virtual void resumed(std::shared_ptr<Queue> queue) = 0;
  // A thread is about to wait for the queue: whatever is ready must run.
  virtual void wanted(Queue& queue) = 0;
};

// Runs work when it is launched, on the launching thread; work that had to wait runs on the thread
// that ends its wait. A CPU has nothing to overlap, and this is fast and deterministic.
class ImmediateScheduler final : public Scheduler {
 public:
  void submitted(Queue& queue) override;
  void resumed(std::shared_ptr<Queue> queue) override;
  void wanted(Queue& queue) override;
};

Scheduler& scheduler();

}  // namespace softnpu::runtime
