// SPDX-License-Identifier: Apache-2.0
#include "runtime/deferred_scheduler.h"

#include <new>
#include <ranges>
#include <unordered_map>
#include <vector>

#include "base/tuning.h"
#include "runtime/patience.h"

namespace softnpu::runtime {
namespace {

// The queue's work up to the ticket and all that it depends on, in other queues too: first what
// depends on others, last what others depend on.
std::vector<Queue::Need> all_needs(Queue& queue, Queue::Ticket ticket) {
  std::vector<Queue::Need> needs{{queue.shared_from_this(), ticket}};
  std::unordered_map<const Queue*, Queue::Ticket> listed;
  for (size_t i = 0; i < needs.size(); ++i) {
    const auto [each, last] = needs[i];
    Queue::Ticket& before = listed[each.get()];
    if (last <= before) continue;
    each->list_needs(before, last, needs);
    before = last;
  }
  return needs;
}

bool is_over(const Deadline& deadline) {
  return deadline.milliseconds > 0 && std::chrono::steady_clock::now() >= deadline.end;
}

Deadline soon(const Deadline& deadline) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  if (deadline.milliseconds > 0 && deadline.end < end) return deadline;
  return {end, static_cast<int32_t>(kPatience.count())};
}

bool permit(const std::vector<Queue::Need>& needs) {
  bool news = false;
  for (const auto& [queue, ticket] : needs) news |= queue->permit(ticket);
  for (const auto& [queue, ticket] : std::views::reverse(needs))
    if (queue->look() == Queue::Front::ready) scheduler().resumed(queue);
  return news;
}

}  // namespace

bool permit_all(Queue& queue, Queue::Ticket ticket) { return permit(all_needs(queue, ticket)); }

void DeferredScheduler::submitted(Queue& queue, Queue::Ticket ticket) {
  note_activity();
  try {
    if (!watch_patiently()) {
      permit_all(queue, ticket);
    } else if (ticket > kFarBehind) {
      DeferredScheduler::awaited(queue, ticket - kFarBehind, soon({}));
      if (queue.wait_for_turn()) wanted(queue, ticket);
    }
  } catch (const std::bad_alloc&) {  // then it runs when a thread waits for it
  }
}

void DeferredScheduler::resumed(std::shared_ptr<Queue> queue) noexcept {
  if (queue->front_is_permitted()) ImmediateScheduler::resumed(std::move(queue));
}

void DeferredScheduler::awaited(Queue& queue, Queue::Ticket ticket, const Deadline& deadline) {
  note_activity();
  const auto needs = all_needs(queue, ticket);
  for (bool steps = true; steps && !queue.reached(ticket);) {
    steps = false;
    for (const auto& [each, last] : std::views::reverse(needs))
      while (!each->reached(last) && !is_over(deadline) && step(*each, deadline)) steps = true;
  }
  // What is left waits for other threads.
  if (!queue.reached(ticket)) permit(needs);
}

bool DeferredScheduler::advance(Queue& queue) {
  note_activity();
  std::shared_ptr<Queue> last = queue.shared_from_this();
  while (auto source = last->held_back_by()) last = std::move(source);
  return step(*last, {});
}

bool DeferredScheduler::step(Queue& queue, const Deadline& deadline) {
  const Queue::Ticket ticket = queue.permit_front();
  if (ticket == 0) return false;
  {
    const Activity running;
    wanted(queue, ticket);
  }
  // Not at once where a thread of the library's own runs it.
  if (!queue.reached(ticket)) queue.watch(ticket, soon(deadline));
  note_activity();
  return true;
}

}  // namespace softnpu::runtime
