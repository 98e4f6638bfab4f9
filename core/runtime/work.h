// SPDX-License-Identifier: Apache-2.0
// The pieces of a stream's queue: tasks, and the gates that block them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/observer.h"
#include "base/status.h"

namespace softnpu::runtime {

class Queue;

using Task = std::function<Status()>;

// Blocks work until it opens, once: when an event's recording is reached, or when a thread has run
// a callback.
class Gate {
 public:
  // The gate is opened by work of `source`.
  explicit Gate(std::weak_ptr<Queue> source) : source_(std::move(source)) {}

  bool is_open() const { return open_.load(std::memory_order_acquire); }
  // Opens the gate and notifies the scheduler of the blocked queues.
  void open() noexcept;
  // Reserves room for one more waiting queue. The only function here that allocates.
  void reserve_waiter();
  // Returns true if it is open. Otherwise open() will notify the scheduler of `queue`; requires
  // reserve_waiter().
  bool pass_or_enlist(const std::weak_ptr<Queue>& queue) noexcept;

  // Only this thread (a pthread_t), which has subscribed to a stream's callbacks, will open it.
  void set_opener(uint64_t thread) { opener_.store(thread, std::memory_order_relaxed); }
  bool is_opened_by_this_thread() const;
  // In a forked child: whether the thread that was to open it does not exist here.
  bool lost_its_opener() const;
  // The queue whose work will open it; null if a thread will, or if the queue is gone.
  std::shared_ptr<Queue> source() const { return source_.lock(); }
  // The Queue::Ticket of the work that opens it. Set before a thread can wait for the gate.
  void set_ticket(uint64_t ticket) { ticket_ = ticket; }
  uint64_t ticket() const { return ticket_; }

 private:
  std::atomic<bool> open_{false};
  std::atomic<uint64_t> opener_{0};
  std::weak_ptr<Queue> source_;
  uint64_t ticket_ = 0;
  std::vector<std::weak_ptr<Queue>> waiting_;
  size_t reserved_ = 0;
};

struct Work {
  Task run;                     // may be empty
  std::string_view what;        // the caller's function, for messages; a literal
  std::shared_ptr<Gate> after;  // must be open before the work runs; may be null
  std::shared_ptr<Gate> opens;  // opened when the work has run or was dropped; may be null
  // A host function. It runs on a thread of the library, because it may wait for the thread that
  // launched it.
  bool hosted = false;
  // The description for observers; null if there are none.
  std::shared_ptr<const Piece> piece = nullptr;
};

// Runs the task. `piece` describes it for observers, and is null if there are none. Throws only if
// pthread_exit() ends the thread.
Status run_work(const Work& work, const Piece* piece);

}  // namespace softnpu::runtime
