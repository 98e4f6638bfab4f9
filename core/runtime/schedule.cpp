// SPDX-License-Identifier: Apache-2.0
// Which scheduler the process has.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/lasting.h"
#include "base/lines.h"
#include "base/random.h"
#include "runtime/random_scheduler.h"
#include "runtime/scheduler.h"

namespace softnpu::runtime {
namespace {

constexpr const char* kVariable = "SOFTNPU_SCHEDULE";
constexpr std::string_view kRandom = "random";

struct Choice {
  std::unique_ptr<Scheduler> scheduler;
  std::string to_say;  // on stderr; it follows what was chosen
  std::atomic<bool> said{false};
};

uint64_t some_seed() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  Random random(static_cast<uint64_t>(now) ^ (static_cast<uint64_t>(getpid()) << 40));
  return random.below(1'000'000);
}

std::optional<uint64_t> seed_in(std::string_view wanted) {
  if (!wanted.starts_with("random:")) return std::nullopt;
  return parse_number<uint64_t>(wanted.data() + kRandom.size() + 1, 0, UINT64_MAX);
}

Choice choose() {
  const char* const given = setting(kVariable);
  const std::string_view wanted = given == nullptr ? "eager" : given;
  if (wanted == "eager") return {std::make_unique<ImmediateScheduler>(), {}};
  if (wanted == "deferred") return {std::make_unique<DeferredScheduler>(), {}};
  if (wanted == kRandom) {
    const uint64_t seed = made_once<some_seed>();
    return {std::make_unique<RandomScheduler>(seed),
            text("softnpu: ", kVariable, "=random:", seed, " gives the same order again\n")};
  }
  if (const auto seed = seed_in(wanted)) return {std::make_unique<RandomScheduler>(*seed), {}};
  return {std::make_unique<ImmediateScheduler>(),
          text("softnpu: ", kVariable, " is \"", wanted,
               "\", which cannot be followed; expected eager, deferred, random or random:SEED\n")};
}

}  // namespace

Scheduler& scheduler() {
  Choice& choice = made_once<choose>();
  // Threads that come at the same time may choose; only what all got is said.
  if (!choice.to_say.empty() && !choice.said.exchange(true)) [[unlikely]]
    say(choice.to_say);
  return *choice.scheduler;
}

}  // namespace softnpu::runtime
