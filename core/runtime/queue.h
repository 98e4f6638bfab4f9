// SPDX-License-Identifier: Apache-2.0
// Work in order, and the failures it left. When it runs is the scheduler's affair.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
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

  // Counts the work of a queue: reached once that much of it is done.
  using Ticket = uint64_t;
  static constexpr Ticket kAll = UINT64_MAX;

  // What run_ready() leaves.
  enum class Left : uint8_t {
    nothing,        // or what a closed gate holds back
    ready,          // for somebody else to run
    hosted,         // a host function, for a thread of the library's own
    to_its_runner,  // another thread, or this one further up its stack
  };

  // Adds work without running any; the scheduler must be told. Nothing when the queue takes none.
  std::optional<Ticket> append(Work work);
  // The same for several pieces, between which there is no other; all or none. The last's ticket.
  std::optional<Ticket> append(std::vector<Work> works);
  Status refusal() const;  // why not
  // Adds work and tells the scheduler.
  Status submit(Work work);
  // The same for two pieces, between which there is no other; both or none.
  Status submit(Work first, Work second);

  // Runs the work at the front, until the ticket is reached or there is none that is ready. Host
  // functions only `by_crew`, by a thread of the library's own; they may end that thread.
  Left run_ready(Ticket last, bool by_crew = false);
  // True for the one caller that must have such a thread run the host function at the front.
  bool claim_for_crew();

  // For a thread that launches faster than another one runs the work: waits until that is not far
  // behind, but not for long, as what runs may wait for this thread. True when nobody runs the
  // queue any more, and its work is ready.
  bool wait_for_turn();

  // For schedulers that hold work back: only permitted work runs. Who permits it has it run.
  bool permit(Ticket last);  // true if anything is permitted that was not
  // Permits the piece at the front, if it is ready and nobody runs the queue. Its ticket, or 0.
  Ticket permit_front();
  bool front_is_permitted() const;
  enum class Front : uint8_t { ready, running, held_back };  // the last also if there is none
  // When a gate holds the front back, its opening resumes the queue.
  Front look();
  bool reached(Ticket ticket) const;
  Ticket appended() const;
  // Work of another queue that some work has to wait for.
  struct Need {
    std::shared_ptr<Queue> queue;
    Ticket ticket;
  };
  // What this queue's work waits for that is not permitted, behind `after` and up to `last`.
  void list_needs(Ticket after, Ticket last, std::vector<Need>& out) const;
  // Whose work will open the gate that holds the front back; null when there is none.
  std::shared_ptr<Queue> held_back_by() const;
  // A program asked whether work is done, and it is not.
  void polled();
  // Whether the same piece stands at the front as at the last call.
  bool stands_still();
  // Waits until the ticket is reached or the deadline has passed.
  void watch(Ticket ticket, const Deadline& deadline);

  // Waits until everything appended so far is done.
  Status wait_idle(const Deadline& deadline);
  // The same, but work that waits for a callback which no thread has run yet is dropped. Returns
  // how many pieces.
  size_t finish_or_drop();
  // `awaited` is what the work up to the ticket is called in messages.
  enum class Callbacks : uint8_t { awaited, not_awaited };
  Status wait(Ticket ticket, const Deadline& deadline, int32_t timeout_code, const char* awaited,
              Callbacks callbacks = Callbacks::awaited);
  bool is_idle() const;
  // Makes threads that wait look again, which run what is ready. False when there is none.
  bool wake_waiters();

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
  void push(Work work);
  // Fails where the front waits, directly or through other queues, for the calling thread, for one
  // that is not there, or for a callback that is not awaited.
  Status require_end(const char* awaited, Callbacks callbacks) const;
  bool front_is_ready() const;                                   // for any thread
  Ticket front() const { return appended_ - work_.size() + 1; }  // the ticket of the front
  bool pass_front_gate();
  bool pass_gate();
  // The gate that holds the queue back; null when none does, or a thread runs the queue.
  std::shared_ptr<Gate> closed_front_gate() const;
  void run_front(std::unique_lock<std::mutex>& lock);
  void note_end(Status status);

  const std::shared_ptr<Owner> owner_;
  const int32_t id_;
  mutable std::mutex mutex_;
  std::condition_variable progress_;
  std::deque<Work> work_;
  const Gate* enlisted_ = nullptr;  // the closed gate that will wake this queue
  Status failure_;
  bool failed_in_parent_ = false;  // in a forked child
  Ticket appended_ = 0;
  Ticket done_ = 0;
  Ticket permitted_;
  Ticket polled_ = kAll;  // how much was appended when a program asked last
  Ticket looked_at_ = 0;  // the front, when stands_still() looked last
  int waiters_ = 0;
  bool running_ = false;
  bool claimed_ = false;  // a thread of the library's own is on its way
  bool lost_its_runner_ = false;
  bool closed_ = false;
};

}  // namespace softnpu::runtime
