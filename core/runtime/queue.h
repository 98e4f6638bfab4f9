// SPDX-License-Identifier: Apache-2.0
// The work of a stream, in order, and the failures that it left. The scheduler decides when it
// runs.
//
// One piece of work:
//
//   append() ─► queued ──► running ──► done        wait() returns when a ticket is done
//                  └── drop_pending() ──┘
//
// The front of a queue (Queue::Front), which decides who runs it:
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
// A front becomes ready in three ways, and each notifies somebody who runs it: append() the
// launching thread (Scheduler::on_submit), a gate Scheduler::on_ready, and a runner that leaves
// ready work behind, on_ready, too.
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

// Which context a queue belongs to. It outlives the context.
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

  // Counts the work of a queue: done once that much of it is.
  using Ticket = uint64_t;
  static constexpr Ticket kAll = UINT64_MAX;

  enum class Front : uint8_t {
    blocked,        // also if there is no work
    ready,          // for any thread
    host_function,  // ready, for a callback thread
    running,        // the queue, on another thread or on this one further up its stack
  };

  // Adds work without running any: the caller must notify the scheduler. All pieces or none, and
  // no others between them; they are moved from. The last one's ticket; nothing when the queue
  // takes no work, for which refusal() has the reason.
  std::optional<Ticket> append(std::span<Work> works);
  Status refusal() const;
  // Adds work and notifies the scheduler.
  Status submit(std::span<Work> works);
  Status submit(Work work) { return submit(std::span<Work>(&work, 1)); }

  // Runs the work at the front, until the ticket is done or the next piece is not ready for this
  // kind of thread. Returns the front that it leaves. A host function may end its thread.
  enum class Runner : uint8_t { any_thread, callback_thread };
  Front run(Ticket last, Runner runner = Runner::any_thread);
  // True for the one caller that must get a callback thread to run the host function at the front.
  bool claim_host_function();

  // Slows down a thread that launches faster than another one runs the work: waits until the
  // backlog is short, but not for long, as the work may wait for this thread. True when nobody runs
  // the queue any more, and its work is ready.
  bool throttle();

  // For schedulers that defer work: only what is allowed runs. Whoever allows it has it run.
  bool allow(Ticket last);  // false if all of it was allowed before
  // Allows the piece at the front, if nothing but that blocks it. Its ticket, or 0.
  Ticket allow_front();
  bool front_is_allowed() const;
  // The front as if it were allowed. If a gate blocks it, opening the gate notifies the scheduler.
  Front peek();
  bool is_done(Ticket ticket) const;
  Ticket appended() const;
  struct Dependency {
    std::shared_ptr<Queue> queue;
    Ticket ticket;
  };
  // Adds the work of other queues for which this queue's waits, as far as it is not allowed, is
  // behind `after` and up to `last`.
  void list_dependencies(Ticket after, Ticket last, std::vector<Dependency>& out) const;
  // The queue whose work will open the gate that blocks the front; null when there is none.
  std::shared_ptr<Queue> blocked_by() const;
  // A program asked whether work is done, and it is not.
  void note_poll();
  // Whether the same piece is at the front as at the last call.
  bool is_stalled();
  // Waits without running anything.
  void sleep_until_done(Ticket ticket, const Deadline& deadline);

  // Waits until everything appended so far is done.
  Status wait_idle(const Deadline& deadline);
  // The same, but work that waits for a callback which no thread has run yet is dropped. Returns
  // how many pieces.
  size_t wait_idle_or_drop();
  // Waits, and runs what is ready meanwhile. `awaited` is what the work up to the ticket is called
  // in messages.
  enum class Callbacks : uint8_t { awaited, not_awaited };
  Status wait(Ticket ticket, const Deadline& deadline, int32_t timeout_code, const char* awaited,
              Callbacks callbacks = Callbacks::awaited);
  bool is_idle() const;
  // Wakes waiting threads, which run what is ready. False when there are none.
  bool wake();

  // The first failure since the last call, and forgets it.
  Status take_failure();
  // The failure that take_failure() would return, if it happened in this process. For the end of
  // the process: does not wait, not even for the lock.
  Status unfetched_failure() const;

  // From now on append() refuses.
  void close();
  // Drops the work that has not started, and what a forked child has lost. Returns how many pieces
  // had not started.
  size_t drop_pending();

  // Fails where it depends on a thread that this process, a forked child, does not have.
  Status require_runner() const;
  // Whether the calling thread runs this queue's work right now, further up its stack.
  bool runs_on_this_thread() const;

  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }
  void renew_in_forked_child();

 private:
  // Fails where the front waits, directly or through other queues, for the calling thread, for one
  // that is not there, or for a callback that is not awaited.
  Status check_wait_can_end(const char* awaited, Callbacks callbacks) const;
  // With the lock held, the rest of these, too. Does not ask whether the queue is running.
  Front front_state(Ticket allowed);
  bool front_is_ready() { return !running_ && front_state(allowed_) == Front::ready; }
  Ticket front_ticket() const { return appended_ - work_.size() + 1; }
  bool pass_gate();
  void run_front(std::unique_lock<std::mutex>& lock);
  void note_end(Status status);
  Work pop_front();
  // Without the lock: the gate that blocks the queue; null when none does, or a thread runs it.
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
  bool claimed_ = false;  // a callback thread is on its way
  bool lost_its_runner_ = false;
  bool closed_ = false;
};

}  // namespace softnpu::runtime
