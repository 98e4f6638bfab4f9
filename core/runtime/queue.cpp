// SPDX-License-Identifier: Apache-2.0
#include "runtime/queue.h"

#include <cxxabi.h>

#include <chrono>
#include <exception>
#include <memory>
#include <new>

#include "runtime/scheduler.h"

namespace softnpu::runtime {
namespace {

// With more work than that behind what runs, threads that launch are slowed down: it takes memory.
constexpr uint64_t kFarBehind = 1000;
constexpr std::chrono::milliseconds kNotForLong{100};

// What holds a queue back may itself come to wait, for the calling thread or for a callback, and
// tells only its own queue. So threads that wait for a queue that is held look again this often.
constexpr std::chrono::milliseconds kLookAgain{20};

// The queues that this thread is running, innermost first.
struct Frame {
  const Queue* queue;
  Frame* outer;
};
thread_local constinit Frame* innermost = nullptr;

Status no_runner() {
  return fail(kRtInvalidHandle,
              "stream was running work in another thread, or waiting for its callback, when fork() "
              "made this process, which has no such thread; reset the device, or create another "
              "stream");
}

Status run_safely(Work& work) {
  if (!work.run) return {};
  try {
    return work.run().in(work.what);
  } catch (const std::bad_alloc&) {
    return fail(work.what.starts_with("aclnn") ? kRuntimeError : kRtMemoryAllocation, work.what,
                ": out of host memory");
  } catch (const std::exception& error) {
    return fail(kRtInternalError, work.what, ": internal error: ", error.what());
  } catch (const abi::__forced_unwind&) {  // pthread_exit() in a host function
    throw;
  } catch (...) {
    return fail(kRtInternalError, work.what, ": internal error");
  }
}

}  // namespace

std::optional<Queue::Ticket> Queue::append(Work work) {
  std::lock_guard lock(mutex_);
  if (closed_ || lost_its_runner_) return std::nullopt;
  push(std::move(work));
  return ++appended_;
}

// Here, where a failure leaves everything as it was, and not when the work's turn has come.
void Queue::push(Work work) {
  if (work.after) work.after->expect_queue();
  work_.push_back(std::move(work));
}

Status Queue::refusal() const {
  RETURN_IF_FAILED(require_runner());
  return fail(kRtInvalidHandle, "stream is a destroyed aclrtStream");
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
  if (const auto& gate = work_.front().after; gate && !gate->is_open()) return false;
  return claimed_ = true;
}

bool Queue::pass_front_gate() {
  if (work_.empty()) return false;
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
      status = run_safely(work);
    } catch (const abi::__forced_unwind&) {
      if (work.opens) work.opens->open();
      work.run = nullptr;
      lock.lock();
      note_end(fail(kRtInternalError, work.what, ": the function ended its thread"));
      throw;
    }
    if (work.opens) work.opens->open();
  }
  lock.lock();
  note_end(std::move(status));
}

void Queue::note_end(Status status) {
  if (!status.ok() && failure_.ok()) failure_ = std::move(status);
  ++done_;
  if (waiters_ > 0) progress_.notify_all();
}

bool Queue::front_is_ready() const {
  if (running_ || work_.empty() || work_.front().hosted) return false;
  const auto& gate = work_.front().after;
  return !gate || gate->is_open();
}

Status Queue::wait_idle(const Deadline& deadline) {
  return wait(appended(), deadline, kRtStreamSyncTimeout, "the stream's work");
}

size_t Queue::finish_or_drop() {
  size_t dropped = 0;
  while (!wait(appended(), {}, kRtStreamSyncTimeout, "the stream's work", Callbacks::not_awaited)
              .ok()) {
    const size_t more = drop_pending();
    if (more == 0) break;
    dropped += more;
  }
  return dropped;
}

Queue::Ticket Queue::appended() const {
  std::lock_guard lock(mutex_);
  return appended_;
}

Status Queue::wait(Ticket ticket, const Deadline& deadline, int32_t timeout_code,
                   const char* awaited, Callbacks callbacks) {
  std::unique_lock lock(mutex_);
  bool in_time = true;
  while (done_ < ticket && in_time) {
    if (front_is_ready()) {
      lock.unlock();
      scheduler().wanted(*this, ticket);
      lock.lock();
      continue;
    }
    lock.unlock();
    RETURN_IF_FAILED(require_end(awaited, callbacks));
    lock.lock();
    if (done_ >= ticket || front_is_ready()) continue;
    ++waiters_;
    const auto look_again = std::chrono::steady_clock::now() + kLookAgain;
    if (!running_ && (deadline.milliseconds == 0 || look_again < deadline.end))
      progress_.wait_until(lock, look_again);
    else
      in_time = runtime::wait(progress_, lock, deadline);
    --waiters_;
  }
  const bool done = done_ >= ticket;
  // Who left the queue may have counted on this thread.
  const bool left = front_is_ready();
  lock.unlock();
  if (left) scheduler().resumed(shared_from_this());
  if (done) return {};
  return fail(timeout_code, awaited, " is not done after the timeout of ", deadline.milliseconds,
              " ms");
}

bool Queue::wait_for_turn() {
  if (runs_on_this_thread()) return false;
  const auto end = std::chrono::steady_clock::now() + kNotForLong;
  std::unique_lock lock(mutex_);
  ++waiters_;
  while (running_ && appended_ - done_ > kFarBehind &&
         progress_.wait_until(lock, end) == std::cv_status::no_timeout) {
  }
  --waiters_;
  return front_is_ready();
}

bool Queue::is_idle() const {
  std::lock_guard lock(mutex_);
  return done_ == appended_;
}

bool Queue::wake_waiters() {
  std::lock_guard lock(mutex_);
  if (waiters_ > 0) progress_.notify_all();
  return waiters_ > 0;
}

Status Queue::take_failure() {
  std::lock_guard lock(mutex_);
  return std::exchange(failure_, Status());
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

std::shared_ptr<Gate> Queue::closed_front_gate() const {
  std::lock_guard lock(mutex_);
  if (running_ || work_.empty()) return nullptr;
  const auto& gate = work_.front().after;
  return gate && !gate->is_open() ? gate : nullptr;
}

void Queue::renew_in_forked_child() {
  std::construct_at(&mutex_);
  std::construct_at(&progress_);  // the end of one that threads wait for would wait for them
  waiters_ = 0;
  const auto gate = work_.empty() ? nullptr : work_.front().after;
  lost_its_runner_ = lost_its_runner_ || (running_ && !runs_on_this_thread()) || claimed_ ||
                     (gate && gate->lost_its_opener());
}

Status Queue::require_end(const char* awaited, Callbacks callbacks) const {
  // Not a recursion: streams may wait for each other in a chain of any length.
  std::shared_ptr<const Queue> kept;
  for (const Queue* queue = this; queue != nullptr; queue = kept.get()) {
    RETURN_IF_FAILED(queue->require_runner());
    const auto gate = queue->closed_front_gate();
    if (queue->runs_on_this_thread() || (gate && gate->is_opened_by_this_thread()))
      return fail(
          kRtParamInvalid, awaited,
          " waits for the calling thread (its own task or callback), so waiting for it would "
          "never end");
    kept = gate ? gate->source() : nullptr;
    if (gate && !kept && callbacks == Callbacks::not_awaited)
      return fail(kRtParamInvalid, awaited, " waits for a callback that no thread has run");
  }
  return {};
}

}  // namespace softnpu::runtime
