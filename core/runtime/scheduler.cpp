// SPDX-License-Identifier: Apache-2.0
#include "runtime/scheduler.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/lasting.h"
#include "base/lines.h"
#include "base/random.h"
#include "base/tuning.h"
#include "runtime/callback_threads.h"
#include "runtime/deferred_scheduler.h"

namespace softnpu::runtime {
namespace {

// The nesting depth of work that launches work.
thread_local constinit int depth = 0;

Queue::Front run_nested(Queue& queue, Queue::Ticket last) {
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } const level;
  return queue.run(last);
}

// Schedules ready work that this thread does not run, because no other thread looks for it.
void pass_on(Queue& queue, Queue::Front front) {
  if (front == Queue::Front::ready || front == Queue::Front::host_function)
    scheduler().on_ready(queue.shared_from_this());
}

}  // namespace

bool Scheduler::is_nested_too_deep() { return depth >= kMaxNesting; }

void Scheduler::on_submit(Queue& queue, Queue::Ticket ticket) {
  if (is_nested_too_deep()) return on_ready(queue.shared_from_this());
  Queue::Front front;
  do {
    front = run_nested(queue, ticket);
  } while (front == Queue::Front::running && queue.throttle());
  pass_on(queue, front);
}

void Scheduler::run(Queue& queue, Queue::Ticket last) { pass_on(queue, run_nested(queue, last)); }

void Scheduler::on_ready(std::shared_ptr<Queue> queue) noexcept {
  const bool is_host_function = queue->claim_host_function();
  if (!is_host_function && queue->wake()) return;
  if (run_on_callback_thread(queue) || is_nested_too_deep()) return;
  queue->run(Queue::kAll, Queue::Runner::callback_thread);  // no other thread can be started
}

namespace {

constexpr const char* kVariable = "SOFTNPU_SCHEDULE";
constexpr std::string_view kRandom = "random";

struct Choice {
  std::unique_ptr<Scheduler> scheduler;
  std::string message;  // for stderr
  std::atomic<bool> printed{false};
};

uint64_t make_seed() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  Random random(static_cast<uint64_t>(now) ^ (static_cast<uint64_t>(getpid()) << 40));
  return random.below(1'000'000);
}

std::optional<uint64_t> parse_seed(std::string_view wanted) {
  if (!wanted.starts_with("random:")) return std::nullopt;
  return parse_number<uint64_t>(wanted.data() + kRandom.size() + 1, 0, UINT64_MAX);
}

Choice choose() {
  const char* const given = setting(kVariable);
  const std::string_view wanted = given == nullptr ? "eager" : given;
  if (wanted == "eager") return {std::make_unique<Scheduler>(), {}};
  if (wanted == "deferred") return {std::make_unique<DeferredScheduler>(), {}};
  if (wanted == kRandom) {
    const uint64_t seed = made_once<make_seed>();
    return {std::make_unique<DeferredScheduler>(seed),
            text("softnpu: ", kVariable, "=random:", seed, " gives the same order again\n")};
  }
  if (const auto seed = parse_seed(wanted)) return {std::make_unique<DeferredScheduler>(*seed), {}};
  return {std::make_unique<Scheduler>(),
          text("softnpu: ", kVariable, " is \"", wanted,
               "\", an invalid value; expected eager, deferred, random or random:SEED\n")};
}

}  // namespace

Scheduler& scheduler() {
  Choice& choice = made_once<choose>();
  // Several threads may choose at the same time, but only one choice is kept.
  if (!choice.message.empty() && !choice.printed.exchange(true)) [[unlikely]]
    print_to_stderr(choice.message);
  return *choice.scheduler;
}

}  // namespace softnpu::runtime
