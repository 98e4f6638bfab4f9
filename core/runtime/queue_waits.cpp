// SPDX-License-Identifier: Apache-2.0
// Waiting for a queue: threads run ready work themselves, and sleep only while other threads run or
// block it. Also the functions for schedulers that defer work.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/tuning.h"
#include "runtime/queue.h"
#include "runtime/scheduler.h"

namespace softnpu::runtime {

Status Queue::wait_idle(const Deadline& deadline) {
  RETURN_IF_FAILED(wait(appended(), deadline, kRtStreamSyncTimeout, "the stream's work"));
  notify(&Observer::saw_end, id_);
  return {};
}

size_t Queue::wait_idle_or_drop() {
  size_t dropped = 0;
  while (!wait(appended(), {}, kRtStreamSyncTimeout, "the stream's work", Callbacks::not_awaited)
              .ok()) {
    const size_t more = drop_pending();
    if (more == 0) break;
    dropped += more;
  }
  if (is_idle()) notify(&Observer::saw_end, id_);
  return dropped;
}

Status Queue::wait(Ticket ticket, const Deadline& deadline, int32_t timeout_code,
                   const char* awaited, Callbacks callbacks) {
  std::unique_lock lock(mutex_);
  if (done_ < ticket) {
    lock.unlock();
    scheduler().on_wait(*this, ticket, deadline);
    lock.lock();
  }
  bool in_time = true;
  while (done_ < ticket && in_time) {
    if (front_is_ready()) {
      lock.unlock();
      scheduler().run(*this, ticket);
      lock.lock();
      continue;
    }
    lock.unlock();
    RETURN_IF_FAILED(check_wait_can_end(awaited, callbacks));
    lock.lock();
    if (done_ >= ticket || front_is_ready()) continue;
    ++waiters_;
    // The work that blocks this queue may begin to wait for the calling thread or for a callback,
    // which notifies only its own queue.
    const auto recheck = std::chrono::steady_clock::now() + kRecheckTime;
    if (!running_ && (deadline.milliseconds == 0 || recheck < deadline.end))
      progress_.wait_until(lock, recheck);
    else
      in_time = runtime::wait(progress_, lock, deadline);
    --waiters_;
  }
  const bool done = done_ >= ticket;
  // The last runner may have left ready work for this waiter.
  const bool ready = front_is_ready();
  lock.unlock();
  if (ready) scheduler().on_ready(shared_from_this());
  if (done) return {};
  return fail("wait-timeout"_rule, timeout_code, awaited, " is not done after the timeout of ",
              deadline.milliseconds, " ms");
}

bool Queue::throttle() {
  if (runs_on_this_thread()) return false;
  const auto end = std::chrono::steady_clock::now() + kRecheckTime;
  std::unique_lock lock(mutex_);
  ++waiters_;
  while (running_ && appended_ - done_ > kMaxBacklog &&
         progress_.wait_until(lock, end) == std::cv_status::no_timeout) {
  }
  --waiters_;
  return front_is_ready();
}

bool Queue::wake() {
  std::lock_guard lock(mutex_);
  if (waiters_ > 0) progress_.notify_all();
  return waiters_ > 0;
}

std::shared_ptr<Gate> Queue::closed_front_gate() const {
  std::lock_guard lock(mutex_);
  if (running_ || work_.empty()) return nullptr;
  const auto& gate = work_.front().after;
  return gate && !gate->is_open() ? gate : nullptr;
}

Status Queue::check_wait_can_end(const char* awaited, Callbacks callbacks) const {
  // Iterative, because chains of waiting streams may have any length.
  std::shared_ptr<const Queue> kept;
  for (const Queue* queue = this; queue != nullptr; queue = kept.get()) {
    RETURN_IF_FAILED(queue->require_runner());
    const auto gate = queue->closed_front_gate();
    if (queue->runs_on_this_thread() || (gate && gate->is_opened_by_this_thread()))
      return fail(
          "waits-for-itself"_rule, kRtParamInvalid, awaited,
          " waits for the calling thread (its own task or callback), so waiting for it would "
          "never end");
    kept = gate ? gate->source() : nullptr;
    if (gate && !kept && callbacks == Callbacks::not_awaited)
      return fail("waits-for-callback"_rule, kRtParamInvalid, awaited,
                  " waits for a callback that no thread has run");
  }
  return {};
}

// The rest is for schedulers that defer work.

bool Queue::allow(Ticket last) {
  std::lock_guard lock(mutex_);
  if (last <= allowed_) return false;
  allowed_ = last;
  return true;
}

Queue::Ticket Queue::allow_front() {
  std::lock_guard lock(mutex_);
  if (running_ || claimed_ || front_state(kAll) == Front::blocked) return 0;
  allowed_ = std::max(allowed_, front_ticket());
  return front_ticket();
}

bool Queue::front_is_allowed() const {
  std::lock_guard lock(mutex_);
  return !work_.empty() && front_ticket() <= allowed_;
}

Queue::Front Queue::peek() {
  std::lock_guard lock(mutex_);
  return running_ || claimed_ ? Front::running : front_state(kAll);
}

bool Queue::is_done(Ticket ticket) const {
  std::lock_guard lock(mutex_);
  return done_ >= ticket;
}

Queue::Ticket Queue::appended() const {
  std::lock_guard lock(mutex_);
  return appended_;
}

void Queue::list_dependencies(Ticket after, Ticket last, std::vector<Dependency>& out) const {
  std::lock_guard lock(mutex_);
  const Ticket first = std::max({after, allowed_, front_ticket() - 1}) + 1;
  for (Ticket each = first; each <= std::min(last, appended_); ++each) {
    const auto& gate = work_[each - front_ticket()].after;
    if (!gate || gate->is_open()) continue;
    if (auto source = gate->source()) out.push_back({std::move(source), gate->ticket()});
  }
}

std::shared_ptr<Queue> Queue::blocked_by() const {
  const auto gate = closed_front_gate();
  return gate ? gate->source() : nullptr;
}

void Queue::note_poll() {
  {
    // The first query runs nothing, so that programs which ignore the answer are exposed.
    std::lock_guard lock(mutex_);
    if (polled_ != appended_) {
      polled_ = appended_;
      return;
    }
  }
  scheduler().on_poll(*this);
}

bool Queue::is_stalled() {
  std::lock_guard lock(mutex_);
  const Ticket before = std::exchange(last_front_, work_.empty() ? 0 : front_ticket());
  return last_front_ != 0 && last_front_ == before;
}

void Queue::sleep_until_done(Ticket ticket, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  ++waiters_;
  while (done_ < ticket && runtime::wait(progress_, lock, deadline)) {
  }
  --waiters_;
  const bool ready = front_is_ready();
  lock.unlock();
  if (ready) scheduler().on_ready(shared_from_this());
}

}  // namespace softnpu::runtime
