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

// Blocks work until it opens, which it does once: when an event's recording is reached, or when
// a thread has run a callback.
class Gate {
 public:
  // A gate that work in `source` will open.
  explicit Gate(std::weak_ptr<Queue> source) : source_(std::move(source)) {}

  bool is_open() const { return open_.load(std::memory_order_acquire); }
  // Notifies the scheduler of the queues that it blocked.
  void open() noexcept;
  // Makes room for one more queue to wait. The only call here that takes memory.
  void reserve_waiter();
  // True when it is open; otherwise open() will notify the scheduler of `queue`, for which there is
  // room.
  bool pass_or_enlist(const std::weak_ptr<Queue>& queue) noexcept;

  // Only this thread (a pthread_t) will open it: it has subscribed to a stream's callbacks.
  void set_opener(uint64_t thread) { opener_.store(thread, std::memory_order_relaxed); }
  bool is_opened_by_this_thread() const;
  // In a forked child: the thread that was to open it is the parent's.
  bool lost_its_opener() const;
  // The queue whose work will open it; null when a thread will, or when the queue is gone.
  std::shared_ptr<Queue> source() const { return source_.lock(); }
  // Which of that queue's work does, a Queue::Ticket. Set before anyone can wait for the gate.
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
  std::string_view what;        // names the caller's function in a failure; a literal
  std::shared_ptr<Gate> after;  // must be open before the work runs; may be null
  std::shared_ptr<Gate> opens;  // opened when the work has run or was dropped; may be null
  // A function of the program's, which may wait for the thread that launched it, and so runs on
  // none of the program's threads.
  bool hosted = false;
  // The description for observers; null where there are none.
  std::shared_ptr<const Piece> piece = nullptr;
};

// Runs the task; `piece` is what observers are told of it, null where none are. No exception leaves
// it but the end of a thread.
Status run_work(const Work& work, const Piece* piece);

}  // namespace softnpu::runtime
