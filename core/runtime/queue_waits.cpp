// SPDX-License-Identifier: Apache-2.0
// How threads wait for a queue: they run what is ready themselves, and sleep only for what others
// run or hold back.
#include <chrono>
#include <memory>

#include "base/tuning.h"
#include "runtime/queue.h"
#include "runtime/scheduler.h"

namespace softnpu::runtime {

Status Queue::wait_idle(const Deadline& deadline) {
  RETURN_IF_FAILED(wait(appended(), deadline, kRtStreamSyncTimeout, "the stream's work"));
  if (Observer* const watching = observer()) [[unlikely]]
    watching->saw_end(id_);
  return {};
}

size_t Queue::finish_or_drop() {
  size_t dropped = 0;
  while (!wait(appended(), {}, kRtStreamSyncTimeout, "the stream's work", Callbacks::not_awaited)
              .ok()) {
    const size_t more = drop_pending();
    if (more == 0) break;
    dropped += more;
  }
  if (Observer* const watching = observer(); watching != nullptr && is_idle()) [[unlikely]]
    watching->saw_end(id_);
  return dropped;
}

Status Queue::wait(Ticket ticket, const Deadline& deadline, int32_t timeout_code,
                   const char* awaited, Callbacks callbacks) {
  std::unique_lock lock(mutex_);
  if (done_ < ticket) {
    lock.unlock();
    scheduler().awaited(*this, ticket, deadline);
    lock.lock();
  }
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
    // What holds a queue back may itself come to wait, for the calling thread or for a callback,
    // and tells only its own queue.
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
  return fail("wait-timeout"_rule, timeout_code, awaited, " is not done after the timeout of ",
              deadline.milliseconds, " ms");
}

bool Queue::wait_for_turn() {
  if (runs_on_this_thread()) return false;
  const auto end = std::chrono::steady_clock::now() + kLookAgain;
  std::unique_lock lock(mutex_);
  ++waiters_;
  while (running_ && appended_ - done_ > kFarBehind &&
         progress_.wait_until(lock, end) == std::cv_status::no_timeout) {
  }
  --waiters_;
  return front_is_ready();
}

bool Queue::wake_waiters() {
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

Status Queue::require_end(const char* awaited, Callbacks callbacks) const {
  // Not a recursion: streams may wait for each other in a chain of any length.
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

}  // namespace softnpu::runtime
