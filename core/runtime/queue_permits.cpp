// SPDX-License-Identifier: Apache-2.0
// What schedulers need that hold work back.
#include <algorithm>

#include "runtime/queue.h"
#include "runtime/scheduler.h"

namespace softnpu::runtime {

bool Queue::permit(Ticket last) {
  std::lock_guard lock(mutex_);
  if (last <= permitted_) return false;
  permitted_ = last;
  return true;
}

Queue::Ticket Queue::permit_front() {
  std::lock_guard lock(mutex_);
  if (running_ || claimed_ || work_.empty() || !pass_gate()) return 0;
  permitted_ = std::max(permitted_, front());
  return front();
}

bool Queue::front_is_permitted() const {
  std::lock_guard lock(mutex_);
  return !work_.empty() && front() <= permitted_;
}

Queue::Front Queue::look() {
  std::lock_guard lock(mutex_);
  if (running_ || claimed_) return Front::running;
  return !work_.empty() && pass_gate() ? Front::ready : Front::held_back;
}

bool Queue::reached(Ticket ticket) const {
  std::lock_guard lock(mutex_);
  return done_ >= ticket;
}

Queue::Ticket Queue::appended() const {
  std::lock_guard lock(mutex_);
  return appended_;
}

void Queue::list_needs(Ticket after, Ticket last, std::vector<Need>& out) const {
  std::lock_guard lock(mutex_);
  const Ticket first = std::max({after, permitted_, front() - 1}) + 1;
  for (Ticket each = first; each <= std::min(last, appended_); ++each) {
    const auto& gate = work_[each - front()].after;
    if (!gate || gate->is_open()) continue;
    if (auto source = gate->source()) out.push_back({std::move(source), gate->ticket()});
  }
}

std::shared_ptr<Queue> Queue::held_back_by() const {
  const auto gate = closed_front_gate();
  return gate ? gate->source() : nullptr;
}

void Queue::polled() {
  {
    // The first time the answer stays true, so that a program which ignores it is not helped.
    std::lock_guard lock(mutex_);
    if (polled_ != appended_) {
      polled_ = appended_;
      return;
    }
  }
  scheduler().advance(*this);
}

bool Queue::stands_still() {
  std::lock_guard lock(mutex_);
  const Ticket before = looked_at_;
  looked_at_ = work_.empty() ? 0 : front();
  return looked_at_ != 0 && looked_at_ == before;
}

void Queue::watch(Ticket ticket, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  ++waiters_;
  while (done_ < ticket && runtime::wait(progress_, lock, deadline)) {
  }
  --waiters_;
  // Who left the queue may have counted on this thread.
  const bool left = front_is_ready();
  lock.unlock();
  if (left) scheduler().resumed(shared_from_this());
}

}  // namespace softnpu::runtime
