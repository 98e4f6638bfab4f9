// SPDX-License-Identifier: Apache-2.0
#include "base/observer.h"

#include <algorithm>
#include <mutex>

#include "base/fork.h"
#include "base/lasting.h"

namespace softnpu {

constinit detail::Observers detail::observers;

uint64_t least_workspace() {
  uint64_t least = 0;
  detail::for_each_observer(
      [&](const Observer& each) { least = std::max(least, each.least_workspace()); });
  return least;
}

void observe(Observer& another) {
  struct Adding : ProcessMutex<> {};
  std::lock_guard lock(lasting<Adding>);
  const size_t count = detail::observers.count.load(std::memory_order_relaxed);
  detail::observers.all.at(count) = &another;
  detail::observers.count.store(count + 1, std::memory_order_release);
}

}  // namespace softnpu
