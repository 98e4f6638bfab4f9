// SPDX-License-Identifier: Apache-2.0
#include "runtime/queue.h"

#include <cxxabi.h>

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "runtime/scheduler.h"

namespace softnpu::runtime {
namespace {

// The queues that this thread is running, innermost first.
struct Frame {
  const Queue* queue;
  Frame* outer;
};
thread_local constinit Frame* innermost = nullptr;

Status no_runner() {
  return fail("stream-lost-in-fork"_rule, kRtInvalidHandle,
              "stream was running work in another thread, or waiting for its callback, when fork() "
              "made this process, which has no such thread; reset the device, or create another "
              "stream");
}

Status run_unobserved(const Work& work) {
  if (!work.run) return {};
  try {
    return work.run().in(work.what);
  } catch (const std::bad_alloc&) {
    return fail("out-of-host-memory"_rule,
                work.what.starts_with("aclnn") ? kRuntimeError : kRtMemoryAllocation, work.what,
                ": out of host memory");
  } catch (const std::exception& error) {
    return fail("internal-error"_rule, kRtInternalError, work.what,
                ": internal error: ", error.what());
  } catch (const abi::__forced_unwind&) {  // pthread_exit() in a host function
    throw;
  } catch (...) {
    return fail("internal-error"_rule, kRtInternalError, work.what, ": internal error");
  }
}

}  // namespace

Status run_work(const Work& work, const Piece* piece) {
  if (piece != nullptr) notify(&Observer::started, *piece);
  Status status = run_unobserved(work);
  if (piece != nullptr) notify(&Observer::finished, *piece, status);
  return status;
}

Queue::Queue(std::shared_ptr<Owner> owner, int32_t id)
    : owner_(std::move(owner)), id_(id), allowed_(scheduler().defers() ? 0 : kAll) {}

std::optional<Queue::Ticket> Queue::append(std::span<Work> works) {
  std::lock_guard lock(mutex_);
  if (closed_ || lost_its_runner_) return std::nullopt;
  size_t pushed = 0;
  try {
    for (; pushed < works.size(); ++pushed) {
      // Reserves memory here, where a failure changes nothing.
      if (const auto& gate = works[pushed].after) gate->reserve_waiter();
      work_.push_back(std::move(works[pushed]));
    }
  } catch (...) {
    while (pushed-- > 0) work_.pop_back();
    throw;
  }
  return appended_ += works.size();
}

Status Queue::refusal() const {
  RETURN_IF_FAILED(require_runner());
  return fail("stream-destroyed"_rule, kRtInvalidHandle, "stream is a destroyed aclrtStream");
}

Status Queue::submit(std::span<Work> works) {
  const auto last = append(works);
  if (!last) return refusal();
  scheduler().on_submit(*this, *last);
  return {};
}

Queue::Front Queue::run(Ticket last, Runner runner) {
  const bool on_callback_thread = runner == Runner::callback_thread;
  std::unique_lock lock(mutex_);
  if (on_callback_thread) claimed_ = false;
  if (running_) return Front::running;
  const auto can_run = [=](Front front) {
    return front == Front::ready || (front == Front::host_function && on_callback_thread);
  };
  Front front = front_state(allowed_);
  if (!can_run(front)) return front;
  // `running_` is reset under the same lock as the last check of the gate. So a gate that opens in
  // between finds the queue not running, and schedules it.
  struct Running {
    explicit Running(Queue& q) : queue(q), frame{&q, innermost} {
      queue.running_ = true;
      innermost = &frame;
    }
    ~Running() {
      innermost = frame.outer;
      queue.running_ = false;
      if (queue.waiters_ > 0) queue.progress_.notify_all();
    }
    Queue& queue;
    Frame frame;
  };
  const Running running(*this);
  do {
    run_front(lock);
    front = front_state(allowed_);
  } while (can_run(front) && done_ < last);
  return front;
}

bool Queue::claim_host_function() {
  std::lock_guard lock(mutex_);
  if (running_ || claimed_ || front_state(allowed_) != Front::host_function) return false;
  return claimed_ = true;
}

Queue::Front Queue::front_state(Ticket allowed) {
  if (work_.empty() || front_ticket() > allowed || !pass_gate()) return Front::blocked;
  return work_.front().hosted ? Front::host_function : Front::ready;
}

bool Queue::pass_gate() {
  const auto& gate = work_.front().after;
  if (!gate || gate->is_open()) return true;
  if (enlisted_ == gate.get()) return false;
  if (gate->pass_or_enlist(weak_from_this())) return true;
  enlisted_ = gate.get();
  return false;
}

Work Queue::pop_front() {
  Work work = std::move(work_.front());
  work_.pop_front();
  enlisted_ = nullptr;
  return work;
}

void Queue::run_front(std::unique_lock<std::mutex>& lock) {
  Status status;
  {
    // Destroyed without the lock, because it may own anything.
    Work work = pop_front();
    lock.unlock();
    try {
      status = run_work(work, work.piece.get());
    } catch (const abi::__forced_unwind&) {
      if (work.opens) work.opens->open();
      work.run = nullptr;
      lock.lock();
      note_end(fail("function-ended-thread"_rule, kRtInternalError, work.what,
                    ": the function ended its thread"));
      throw;
    }
    if (work.opens) work.opens->open();
  }
  lock.lock();
  note_end(std::move(status));
}

void Queue::note_end(Status status) {
  if (!status.ok() && failure_.ok()) {
    failure_ = std::move(status);
    failed_in_parent_ = false;
  }
  ++done_;
  if (waiters_ > 0) progress_.notify_all();
}

bool Queue::is_idle() const {
  std::lock_guard lock(mutex_);
  return done_ == appended_;
}

Status Queue::take_failure() {
  std::lock_guard lock(mutex_);
  return std::exchange(failure_, Status());
}

Status Queue::unfetched_failure() const {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock && !failed_in_parent_ ? failure_ : Status();
}

void Queue::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
}

size_t Queue::drop_pending() {
  // One by one, without allocating. The work is destroyed without the lock.
  for (size_t dropped = 0;; ++dropped) {
    Work work;
    {
      std::lock_guard lock(mutex_);
      if (work_.empty()) {
        if (lost_its_runner_) done_ = appended_;  // what runs in the parent never ends here
        return dropped;
      }
      work = pop_front();
      ++done_;
      if (waiters_ > 0) progress_.notify_all();
    }
    if (work.opens) work.opens->open();
  }
}

Status Queue::require_runner() const {
  std::lock_guard lock(mutex_);
  return lost_its_runner_ ? no_runner() : Status();
}

bool Queue::runs_on_this_thread() const {
  for (const Frame* frame = innermost; frame != nullptr; frame = frame->outer)
    if (frame->queue == this) return true;
  return false;
}

void Queue::renew_in_forked_child() {
  std::construct_at(&mutex_);
  std::construct_at(&progress_);  // not destroyed, because that would wait for its waiters
  waiters_ = 0;
  failed_in_parent_ = true;  // applies to all earlier failures
  const auto gate = work_.empty() ? nullptr : work_.front().after;
  lost_its_runner_ = lost_its_runner_ || (running_ && !runs_on_this_thread()) || claimed_ ||
                     (gate && gate->lost_its_opener());
}

}  // namespace softnpu::runtime
