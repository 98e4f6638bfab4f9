// SPDX-License-Identifier: Apache-2.0
#include "runtime/queue.h"

#include <exception>

#include "runtime/scheduler.h"

namespace softnpu::runtime {
namespace {

// The queues that this thread is running, innermost first.
struct Frame {
  const Queue* queue;
  Frame* outer;
};
thread_local constinit Frame* innermost = nullptr;

Status run_safely(Work& work) noexcept {
  if (!work.run) return {};
  try {
    return work.run().in(work.what);
  } catch (const std::exception& error) {
    return fail(kRtInternalError, work.what, ": internal error: ", error.what());
  } catch (...) {
    return fail(kRtInternalError, work.what, ": internal error");
  }
}

}  // namespace

std::optional<Queue::Ticket> Queue::append(Work work) {
  std::lock_guard lock(mutex_);
  if (closed_) return std::nullopt;
  work_.push_back(std::move(work));
  return ++appended_;
}

Status Queue::refusal() { return fail(kRtInvalidHandle, "stream is a destroyed aclrtStream"); }

Status Queue::submit(Work work) {
  if (!append(std::move(work))) return refusal();
  scheduler().submitted(*this);
  return {};
}

void Queue::run_ready() {
  std::unique_lock lock(mutex_);
  if (running_ || !pass_front_gate()) return;
  // The gate is asked under the lock and the queue is left under the same lock, so that a gate that
  // opens in between finds it not running and takes over. It is left also where there is no memory
  // to enlist at the gate with.
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
  } while (pass_front_gate());
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
    status = run_safely(work);
    if (work.opens) work.opens->open();
  }
  lock.lock();
  if (!status.ok() && failure_.ok()) failure_ = std::move(status);
  ++done_;
  if (waiters_ > 0) progress_.notify_all();
}

bool Queue::front_is_ready() const {
  if (running_ || work_.empty()) return false;
  const auto& gate = work_.front().after;
  return !gate || gate->is_open();
}

Status Queue::wait_idle(const Deadline& deadline) {
  Ticket last;
  {
    std::lock_guard lock(mutex_);
    last = appended_;
  }
  return wait(last, deadline, kRtStreamSyncTimeout, "the stream's work");
}

Status Queue::wait(Ticket ticket, const Deadline& deadline, int32_t timeout_code,
                   const char* awaited) {
  std::unique_lock lock(mutex_);
  bool in_time = true;
  while (done_ < ticket) {
    if (front_is_ready() || !in_time) {
      lock.unlock();
      if (!in_time)
        return fail(timeout_code, awaited, " is not done after the timeout of ",
                    deadline.milliseconds, " ms");
      scheduler().wanted(*this);
      lock.lock();
      continue;
    }
    lock.unlock();
    if (needs_this_thread())
      return fail(
          kRtParamInvalid, awaited,
          " waits for the calling thread (its own task or callback), so waiting for it would "
          "never end");
    lock.lock();
    if (done_ >= ticket || front_is_ready()) continue;
    ++waiters_;
    in_time = runtime::wait(progress_, lock, deadline);
    --waiters_;
  }
  return {};
}

bool Queue::is_idle() const {
  std::lock_guard lock(mutex_);
  return done_ == appended_;
}

void Queue::wake_waiters() {
  std::lock_guard lock(mutex_);
  if (waiters_ > 0) progress_.notify_all();
}

Status Queue::take_failure() {
  std::lock_guard lock(mutex_);
  return std::exchange(failure_, Status());
}

void Queue::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
}

void Queue::drop_pending() {
  std::deque<Work> dropped;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(work_);
    enlisted_ = nullptr;
    done_ += dropped.size();
    if (waiters_ > 0) progress_.notify_all();
  }
  for (Work& work : dropped)
    if (work.opens) work.opens->open();
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

bool Queue::needs_this_thread() const {
  // Not a recursion: streams may wait for each other in a chain of any length.
  std::shared_ptr<const Queue> kept;
  const Queue* queue = this;
  while (!queue->runs_on_this_thread()) {
    const auto gate = queue->closed_front_gate();
    if (!gate) return false;
    if (gate->is_opened_by_this_thread()) return true;
    kept = gate->source();
    if (!kept) return false;
    queue = kept.get();
  }
  return true;
}

}  // namespace softnpu::runtime
