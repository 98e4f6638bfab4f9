// SPDX-License-Identifier: Apache-2.0
#include "runtime/queue.h"

#include <cxxabi.h>

#include <exception>
#include <memory>
#include <new>

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
  Observer* const watching = piece != nullptr ? observer() : nullptr;
  if (watching != nullptr) [[unlikely]]
    watching->started(*piece);
  Status status = run_unobserved(work);
  if (watching != nullptr) [[unlikely]]
    watching->finished(*piece, status);
  return status;
}

Queue::Queue(std::shared_ptr<Owner> owner, int32_t id)
    : owner_(std::move(owner)), id_(id), permitted_(scheduler().holds_back() ? 0 : kAll) {}

std::optional<Queue::Ticket> Queue::append(Work work) {
  std::lock_guard lock(mutex_);
  if (closed_ || lost_its_runner_) return std::nullopt;
  push(std::move(work));
  return ++appended_;
}

std::optional<Queue::Ticket> Queue::append(std::vector<Work> works) {
  std::lock_guard lock(mutex_);
  if (closed_ || lost_its_runner_) return std::nullopt;
  size_t pushed = 0;
  try {
    for (; pushed < works.size(); ++pushed) push(std::move(works[pushed]));
  } catch (...) {
    while (pushed-- > 0) work_.pop_back();
    throw;
  }
  return appended_ += works.size();
}

// Here, where a failure leaves everything as it was, and not when the work's turn has come.
void Queue::push(Work work) {
  if (work.after) work.after->expect_queue();
  work_.push_back(std::move(work));
}

Status Queue::refusal() const {
  RETURN_IF_FAILED(require_runner());
  return fail("stream-destroyed"_rule, kRtInvalidHandle, "stream is a destroyed aclrtStream");
}

Status Queue::submit(Work work) {
  const auto ticket = append(std::move(work));
  if (!ticket) return refusal();
  scheduler().submitted(*this, *ticket);
  return {};
}

Status Queue::submit(Work first, Work second) {
  std::unique_lock lock(mutex_);
  if (closed_ || lost_its_runner_) {
    lock.unlock();
    return refusal();
  }
  push(std::move(first));
  try {
    push(std::move(second));
  } catch (...) {
    work_.pop_back();
    throw;
  }
  const Ticket last = appended_ += 2;
  lock.unlock();
  scheduler().submitted(*this, last);
  return {};
}

Queue::Left Queue::run_ready(Ticket last, bool by_crew) {
  std::unique_lock lock(mutex_);
  if (by_crew) claimed_ = false;
  if (running_) return Left::to_its_runner;
  if (!pass_front_gate()) return Left::nothing;
  if (work_.front().hosted && !by_crew) return Left::hosted;
  // The gate is asked under the lock and the queue is left under the same lock, so that a gate that
  // opens in between finds it not running and takes over.
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
    if (!pass_front_gate()) return Left::nothing;
    if (work_.front().hosted && !by_crew) return Left::hosted;
  } while (done_ < last);
  return Left::ready;
}

bool Queue::claim_for_crew() {
  std::lock_guard lock(mutex_);
  if (running_ || claimed_ || work_.empty() || !work_.front().hosted) return false;
  if (front() > permitted_) return false;
  if (const auto& gate = work_.front().after; gate && !gate->is_open()) return false;
  return claimed_ = true;
}

bool Queue::pass_front_gate() {
  if (work_.empty() || front() > permitted_) return false;
  return pass_gate();
}

bool Queue::pass_gate() {
  const auto& gate = work_.front().after;
  if (!gate || gate->is_open()) return true;
  if (enlisted_ == gate.get()) return false;
  if (gate->pass_or_enlist(weak_from_this())) return true;
  enlisted_ = gate.get();
  return false;
}

void Queue::run_front(std::unique_lock<std::mutex>& lock) {
  Status status;
  {
    // What the work holds is released outside the lock too: it may be anything.
    Work work = std::move(work_.front());
    work_.pop_front();
    enlisted_ = nullptr;
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

bool Queue::front_is_ready() const {
  if (running_ || work_.empty() || work_.front().hosted || front() > permitted_) return false;
  const auto& gate = work_.front().after;
  return !gate || gate->is_open();
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
  // One by one, which takes no memory. What is dropped is released outside the lock.
  for (size_t dropped = 0;; ++dropped) {
    Work work;
    {
      std::lock_guard lock(mutex_);
      if (work_.empty()) {
        if (lost_its_runner_) done_ = appended_;  // what runs in the parent will not end here
        return dropped;
      }
      work = std::move(work_.front());
      work_.pop_front();
      enlisted_ = nullptr;
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
  std::construct_at(&progress_);  // the end of one that threads wait for would wait for them
  waiters_ = 0;
  failed_in_parent_ = true;  // whatever failed until now
  const auto gate = work_.empty() ? nullptr : work_.front().after;
  lost_its_runner_ = lost_its_runner_ || (running_ && !runs_on_this_thread()) || claimed_ ||
                     (gate && gate->lost_its_opener());
}

}  // namespace softnpu::runtime
