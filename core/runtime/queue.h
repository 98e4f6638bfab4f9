// SPDX-License-Identifier: Apache-2.0
// Work in order, and the failures it left. When it runs is the scheduler's affair.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "base/export.h"
#include "base/status.h"
#include "runtime/deadline.h"
#include "runtime/work.h"

namespace softnpu::runtime {

// Thread-safe. One thread at a time runs the work.
class SOFTNPU_EXPORT Queue : public std::enable_shared_from_this<Queue> {
 public:
  // Counts the work of a queue: reached once that much of it is done.
  using Ticket = uint64_t;

  // Adds work without running any; the scheduler must be told. Nothing when the queue is closed.
  std::optional<Ticket> append(Work work);
  static Status refusal();  // the failure that a closed queue is
  // Adds work and tells the scheduler.
  Status submit(Work work);

  // Runs the work at the front, until there is none or a closed gate holds it back. Does nothing
  // while another thread does so: that thread sees work that comes in the meantime.
  void run_ready();

  // Waits until everything appended so far is done.
  Status wait_idle(const Deadline& deadline);
  // `awaited` is what the work up to the ticket is called in messages.
  Status wait(Ticket ticket, const Deadline& deadline, int32_t timeout_code, const char* awaited);
  bool is_idle() const;
  // Makes threads in wait() look again.
  void wake_waiters();

  // The first failure since the last call, and forgets it.
  Status take_failure();

  // From now on append() refuses.
  void close();
  // Drops the work that has not started.
  void drop_pending();

  // Whether the calling thread runs this queue's work right now, further up its stack.
  bool runs_on_this_thread() const;
  // Whether the front waits, directly or through other queues, for the calling thread.
  bool needs_this_thread() const;

 private:
  bool front_is_ready() const;
  bool pass_front_gate();
  // The gate that holds the queue back; null when none does, or a thread runs the queue.
  std::shared_ptr<Gate> closed_front_gate() const;
  void run_front(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable progress_;
  std::deque<Work> work_;
  const Gate* enlisted_ = nullptr;  // the closed gate that will wake this queue
  Status failure_;
  Ticket appended_ = 0;
  Ticket done_ = 0;
  int waiters_ = 0;
  bool running_ = false;
  bool closed_ = false;
};

}  // namespace softnpu::runtime
