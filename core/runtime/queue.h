// SPDX-License-Identifier: Apache-2.0
// The work of a stream, in order, and its failures. The scheduler decides when it runs.
//
// One piece of work:
//
//   append() ─► queued ──► running ──► done        wait() returns when a ticket is done
//                  └── drop_pending() ──┘
//
// The state of a queue's front (Queue::Front) decides who runs it:
//
//                        append(), allow(), or its gate opens
//              ┌─────────┐ ─────────────────────► ┌───────────────────────┐
//   empty, ──► │ blocked │                        │ ready | host_function │
//   not yet    └─────────┘ ◄───┐                  └───────────────────────┘
//   allowed, or                │                        │ run(): a thread that launches or waits,
//   behind a closed gate       │                        ▼ for a host function a callback thread
//                              │  next front is   ┌─────────┐ ─┐ next front is ready:
//                              └───────────────── │ running │  │ the same thread goes on
//                                 blocked         └─────────┘ ◄┘
//
// A front becomes ready in three ways, each with a notification: append() notifies the launching
// thread (Scheduler::on_submit); an opened gate and a runner that leaves ready work notify
// Scheduler::on_ready.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/export.h"
#include "base/status.h"
#include "runtime/deadline.h"
#include "runtime/work.h"

namespace softnpu::runtime {

// The context of a queue. It outlives the context.
struct Owner {
  void* context = nullptr;
  int32_t device = 0;
  std::atomic<bool> alive{true};
};

// Thread-safe. One thread at a time runs the work.
class SOFTNPU_EXPORT Queue : public std::enable_shared_from_this<Queue> {
 public:
  Queue(std::shared_ptr<Owner> owner, int32_t id);

  int32_t id() const { return id_; }
  const Owner& owner() const { return *owner_; }

  // Counts the work of a queue. A ticket is done when that many pieces are done.
  using Ticket = uint64_t;
  static constexpr Ticket kAll = UINT64_MAX;

  enum class Front : uint8_t {
    blocked,        // or empty
    ready,          // for any thread
    host_function,  // ready, for a callback thread
    running,        // on another thread, or on this one further up its stack
  };

  // Adds work without running it: the caller must notify the scheduler. Adds all pieces
  // consecutively or none, and moves from them. Returns the last ticket; nothing if the queue takes
  // no work, for the reason in refusal().
  std::optional<Ticket> append(std::span<Work> works);
  Status refusal() const;
  Status submit(std::span<Work> works);
  Status submit(Work work) { return submit(std::span<Work>(&work, 1)); }

  // Runs the work at the front until the ticket is done or the next piece is not ready for this
  // kind of thread. Returns the resulting front. A host function may end its thread.
  enum class Runner : uint8_t { any_thread, callback_thread };
  Front run(Ticket last, Runner runner = Runner::any_thread);
  // Returns true to the one caller that must run the host function at the front on a callback
  // thread.
  bool claim_host_function();

  // Slows down a thread that launches faster than another one runs the work: waits until the
  // backlog is short, but not for long, because the work may wait for this thread. Returns true if
  // no thread runs the queue any more and its work is ready.
  bool throttle();

  // For schedulers that defer work: only allowed work runs. The caller of allow() must run it.
  bool allow(Ticket last);  // false if all of it was allowed before
  // Allows the piece at the front, if nothing else blocks it. Returns its ticket, or 0.
  Ticket allow_front();
  bool front_is_allowed() const;
  // The front if it were allowed. If a gate blocks it, the opening of the gate notifies the
  // scheduler.
  Front peek();
  bool is_done(Ticket ticket) const;
  Ticket appended() const;
  struct Dependency {
    std::shared_ptr<Queue> queue;
    Ticket ticket;
  };
  // Lists the work of other queues that this queue's pieces from `after` + 1 to `last` wait for,
  // except allowed ones.
  void list_dependencies(Ticket after, Ticket last, std::vector<Dependency>& out) const;
  // The queue whose work will open the gate that blocks the front; null if there is none.
  std::shared_ptr<Queue> blocked_by() const;
  // The program queried unfinished work.
  void note_poll();
  // Whether the front is the same piece as at the last call.
  bool is_stalled();
  // Waits without running anything.
  void sleep_until_done(Ticket ticket, const Deadline& deadline);

  Status wait_idle(const Deadline& deadline);
  // The same, but drops work that waits for a callback which no thread has run. Returns the number
  // of dropped pieces.
  size_t wait_idle_or_drop();
  // Waits, and runs ready work meanwhile. `awaited` describes the work in messages.
  enum class Callbacks : uint8_t { awaited, not_awaited };
  Status wait(Ticket ticket, const Deadline& deadline, int32_t timeout_code, const char* awaited,
              Callbacks callbacks = Callbacks::awaited);
  bool is_idle() const;
  // Wakes waiting threads, which run ready work. Returns false if there are none.
  bool wake();

  // Returns and clears the first failure since the last call.
  Status take_failure();
  // The failure that take_failure() would return, if it happened in this process. For the end of
  // the process: does not wait, not even for the lock.
  Status unfetched_failure() const;

  void close();
  // Drops work that has not started, and, in a forked child, work of lost threads. Returns the
  // number of pieces that had not started.
  size_t drop_pending();

  // Fails if the queue needs a thread that does not exist in this process, a forked child.
  Status require_runner() const;
  // Whether the calling thread is running this queue's work, further up its stack.
  bool runs_on_this_thread() const;

  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }
  void renew_in_forked_child();

 private:
  // Fails if the front waits, directly or through other queues, for the calling thread, for a
  // thread lost in a fork, or for a callback that is not awaited.
  Status check_wait_can_end(const char* awaited, Callbacks callbacks) const;
  // These require the lock. front_state() ignores whether the queue is running.
  Front front_state(Ticket allowed);
  bool front_is_ready() { return !running_ && front_state(allowed_) == Front::ready; }
  Ticket front_ticket() const { return appended_ - work_.size() + 1; }
  bool pass_gate();
  void run_front(std::unique_lock<std::mutex>& lock);
  void note_end(Status status);
  Work pop_front();
  // Takes the lock. The closed gate that blocks the queue; null if there is none, or if a thread
  // runs the queue.
  std::shared_ptr<Gate> closed_front_gate() const;

  const std::shared_ptr<Owner> owner_;
  const int32_t id_;
  mutable std::mutex mutex_;
  std::condition_variable progress_;
  std::deque<Work> work_;
  const Gate* enlisted_ = nullptr;  // the closed gate that will notify the scheduler
  Status failure_;
  bool failed_in_parent_ = false;  // in a forked child
  Ticket appended_ = 0;
  Ticket done_ = 0;
  Ticket allowed_;
  Ticket polled_ = kAll;   // how much was appended at the last note_poll()
  Ticket last_front_ = 0;  // at the last is_stalled()
  int waiters_ = 0;
  bool running_ = false;
  bool claimed_ = false;  // a callback thread will run it
  bool lost_its_runner_ = false;
  bool closed_ = false;
};

}  // namespace softnpu::runtime
