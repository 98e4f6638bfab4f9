// SPDX-License-Identifier: Apache-2.0
#include "loops/processors.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/stat_fields.h"

namespace softnpu::loops {
namespace {

thread_local pid_t known_thread = 0;

// The processor that a thread runs on or waits for; -1 if the thread sleeps.
int wanted_processor(pid_t thread) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", thread);
  const StatFields fields(path.data());
  return fields.state() == 'R' ? fields.number(39).value_or(-1) : -1;
}

}  // namespace

pid_t this_thread() {
  if (known_thread == 0) known_thread = gettid();
  return known_thread;
}

void forget_this_thread() { known_thread = 0; }

void step_aside_for(pid_t thread, int processors) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  const int here = sched_getcpu();
  if (here < 0 || CPU_COUNT(&usable) < processors || wanted_processor(thread) != here) return;
  cpu_set_t others = usable;
  CPU_CLR(static_cast<size_t>(here), &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof usable, &usable);
}

}  // namespace softnpu::loops
